// conformance/event_stream.mjs - reads text/event-stream as the HTML standard says, bytes as they come.
//
// `onEvent` gets {id, name, data, retry} for every event, those without data too (they carry an id or a
// retry time); what a field lacks is undefined. `comments` counts the comment lines.

export class EventReader {
  constructor(onEvent) {
    this.onEvent = onEvent;
    this.decoder = new TextDecoder('utf-8', { fatal: true });
    this.rest = '';
    this.event = {};
    this.comments = 0;
  }

  push(bytes) {
    this.rest += this.decoder.decode(bytes, { stream: true });
    const lines = this.rest.split('\n');
    this.rest = lines.pop();
    for (const line of lines) this.line(line.endsWith('\r') ? line.slice(0, -1) : line);
  }

  line(line) {
    if (line === '') {
      if (Object.keys(this.event).length > 0) this.onEvent(this.event);
      this.event = {};
    } else if (line.startsWith(':')) {
      this.comments += 1;
    } else {
      const [, name, value] = /^([^:]*)(?:: ?(.*))?$/.exec(line);
      this.field(name, value ?? '');
    }
  }

  field(name, value) {
    if (name === 'data') this.event.data = 'data' in this.event ? `${this.event.data}\n${value}` : value;
    else if (name === 'id') this.event.id = value;
    else if (name === 'event') this.event.name = value;
    else if (name === 'retry') this.event.retry = Number(value);
    else throw new Error(`an event stream with a field "${name}"`);
  }

  // What is left at the end of the stream is half an event: nothing when the server ended it itself.
  get unfinished() {
    return this.rest !== '' || Object.keys(this.event).length > 0;
  }
}

/* core/capability.c - see capability.h. */
#include "core/capability.h"

#include "core/revision.h"
#include "generated/methods.h"

/* The operations have no tables to be subscribed to, no prompts and nothing to complete. */
static const uint32_t allowed[2] = {
    [PROFILE_APPLICATION] = UINT32_MAX,
    [PROFILE_OPERATIONS] = MCP_SERVER_TOOLS | MCP_SERVER_RESOURCES | MCP_SERVER_LOGGING,
};

bool capability_is_offered(enum call_profile profile, uint32_t gates)
{
    uint32_t offered = mcp_dispatch((enum mcp_revision)revision_at(0))->capabilities;
    return (gates & ~(offered & allowed[profile])) == 0;
}

void capability_fill(enum call_profile profile, struct mcp_server_capabilities *ret)
{
    static struct mcp_server_capabilities_tools tools[2];
    static struct mcp_server_capabilities_resources resources[2];
    static struct mcp_server_capabilities_prompts prompts;
    MCP_SET(&tools[PROFILE_APPLICATION], list_changed, true);
    MCP_SET(&resources[PROFILE_APPLICATION], list_changed, true);
    MCP_SET(&prompts, list_changed, true);
    MCP_SET(&resources[PROFILE_APPLICATION], subscribe, true);
    *ret = (struct mcp_server_capabilities){.has = 0};
    if (capability_is_offered(profile, MCP_SERVER_LOGGING))
        MCP_SET(ret, logging, STR("{}"));
    if (capability_is_offered(profile, MCP_SERVER_TOOLS))
        MCP_SET(ret, tools, &tools[profile]);
    if (capability_is_offered(profile, MCP_SERVER_RESOURCES))
        MCP_SET(ret, resources, &resources[profile]);
    if (capability_is_offered(profile, MCP_SERVER_PROMPTS))
        MCP_SET(ret, prompts, &prompts);
    if (capability_is_offered(profile, MCP_SERVER_COMPLETIONS))
        MCP_SET(ret, completions, STR("{}"));
}

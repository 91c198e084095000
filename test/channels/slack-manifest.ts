import { z } from "zod";

/** The fields and limits that Slack documents for the manifest of an app, as far as an app for people needs them. */
const scope = z.string().regex(/^[a-z]+(?:[.:][a-z_.]+)*$/);
const address = z.url({ protocol: /^https$/ });

const Display = z.strictObject({
  name: z.string().min(1).max(35),
  description: z.string().max(140).optional(),
  long_description: z.string().min(174).max(4_000).optional(),
  background_color: z
    .string()
    .regex(/^#(?:[0-9a-f]{3}){1,2}$/i)
    .optional(),
});
const AppHome = z.strictObject({
  home_tab_enabled: z.boolean().optional(),
  messages_tab_enabled: z.boolean().optional(),
  messages_tab_read_only_enabled: z.boolean().optional(),
});
const BotUser = z.strictObject({
  display_name: z
    .string()
    .max(80)
    .regex(/^[a-z0-9._-]+$/),
  always_online: z.boolean().optional(),
});
const SlashCommand = z.strictObject({
  command: z.string().max(32).startsWith("/"),
  url: address.optional(),
  description: z.string().min(1).max(2_000),
  usage_hint: z.string().max(1_000).optional(),
  should_escape: z.boolean().optional(),
});
const Settings = z.strictObject({
  allowed_ip_address_ranges: z.array(z.string()).max(50).optional(),
  event_subscriptions: z
    .strictObject({
      request_url: address.optional(),
      bot_events: z.array(z.string()).max(100).optional(),
      user_events: z.array(z.string()).max(100).optional(),
    })
    .optional(),
  interactivity: z
    .strictObject({
      is_enabled: z.boolean(),
      request_url: address.optional(),
      message_menu_options_url: address.optional(),
    })
    .optional(),
  org_deploy_enabled: z.boolean().optional(),
  socket_mode_enabled: z.boolean().optional(),
  token_rotation_enabled: z.boolean().optional(),
});

export const SlackManifest = z
  .strictObject({
    _metadata: z.strictObject({ major_version: z.union([z.literal(1), z.literal(2)]) }).optional(),
    display_information: Display,
    features: z
      .strictObject({
        app_home: AppHome.optional(),
        bot_user: BotUser.optional(),
        slash_commands: z.array(SlashCommand).max(50).optional(),
      })
      .optional(),
    oauth_config: z.strictObject({
      redirect_urls: z.array(z.url()).max(1_000).optional(),
      scopes: z.strictObject({
        bot: z.array(scope).max(255).optional(),
        user: z.array(scope).max(255).optional(),
      }),
    }),
    settings: Settings,
  })
  .superRefine(({ features, oauth_config: { scopes }, settings }, { addIssue }) => {
    const requires = (name: string) => {
      if (!scopes.bot?.includes(name)) addIssue(`the scope ${name} is missing`);
    };
    // An event of messages is sent only to an app that may read them.
    for (const event of settings.event_subscriptions?.bot_events ?? []) {
      const [kind, place] = event.split(".");
      if (kind === "message" && place !== undefined) requires(`${place}:history`);
    }
    const commands = features?.slash_commands ?? [];
    if (commands.length > 0) requires("commands");
    if (scopes.bot && !features?.bot_user) addIssue("scopes of a bot need a bot user");
    if (settings.socket_mode_enabled) return;
    const { interactivity, event_subscriptions: events } = settings;
    const urls = [...commands.map(({ url }) => url), interactivity?.request_url, events?.request_url];
    const isAddressed = urls.every((url) => url !== undefined);
    if (!isAddressed) addIssue("without connections each part needs a URL");
  });

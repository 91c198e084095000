/**
 * The published form of one provider's keys: its name, the literal starts (apart by spaces), the characters that follow,
 * and what such a key opens.
 */
export type SecretForm = readonly [provider: string, starts: string, rest: RegExp, opens: string];

const HEX32 = /[0-9a-fA-F]{32}/;
const HEX40 = /[0-9a-fA-F]{40}/;
const HEX64 = /[0-9a-fA-F]{64}/;
const UUID = /[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}/;
const ALNUM16 = /[A-Za-z0-9]{16,}/;
const ALNUM24 = /[A-Za-z0-9]{24,}/;
const ALNUM32 = /[A-Za-z0-9]{32,}/;
const WORD16 = /[\w-]{16,}/;
const WORD20 = /[\w-]{20,}/;
const WORD30 = /[\w-]{30,}/;
const BASE64_30 = /[\w+/=-]{30,}/;

/**
 * Keys that are known by how they start. A start is case-sensitive, as its provider writes it. Nothing has to come after
 * an unbounded part, so that a scan stays linear. Of two forms with the same start the first that fits counts.
 */
export const SECRET_FORMS: readonly SecretForm[] = [
  ["askd", "askd_a_ askd_h_ askd_l_ askd_x_", WORD20, "questions and answers"],

  // Clouds and hosting
  [
    "AWS",
    "AKIA ASIA ABIA ACCA AGPA AIDA AROA AIPA ANPA ANVA APKA A3T",
    /[A-Z0-9]{16,17}(?![A-Za-z0-9])/,
    "cloud resources",
  ],
  ["AWS session", "FwoGZXIvYXdz IQoJb3JpZ2lu FQoGZXIvYXdz", BASE64_30, "cloud resources for hours"],
  ["AWS Bedrock", "ABSK bedrock-api-key-", /[A-Za-z0-9+/=]{60,}/, "models on AWS"],
  ["AWS AppSync", "da2-", /[a-z0-9]{26}/, "GraphQL endpoints"],
  ["Amazon MWS", "amzn.mws.", UUID, "a seller account"],
  ["Amazon login", "Atza| Atzr| amzn1.oa2-cs.v1.", /[\w-]{30,}/, "an Amazon account"],
  ["Google", "AIza", /[\w-]{33,}/, "Google services, at its owner's cost"],
  ["Google OAuth", "GOCSPX- ya29. 1//0 AQ.Ab8", WORD20, "a Google account"],
  ["Google storage", "GOOG1E GOOG", /[A-Z0-9]{20,}/, "storage buckets"],
  ["Firebase messaging", "AAAA", /[\w-]{7}:APA91b[\w-]{60,}/, "push messages"],
  ["Azure storage access", "AZDO azdo", /[A-Za-z0-9]{48,}/, "Azure DevOps"],
  ["DigitalOcean", "dop_v1_ doo_v1_ dor_v1_ dosec_v1_", /[a-fA-F0-9]{40,}/, "servers"],
  ["Heroku", "HRKU-", WORD30, "applications"],
  ["Fly.io", "fo1_ fm1a_ fm1r_ fm2_", BASE64_30, "applications"],
  ["Render", "rnd_", ALNUM24, "applications"],
  ["Vercel", "vcp_ vci_ vca_ vcr_ vck_ vercel_blob_rw_", WORD20, "deployments"],
  ["Netlify", "nfp_ nfc_ nfo_ nfu_ nfb_", ALNUM24, "sites"],
  ["Cloudflare", "v1.0-", /[a-f0-9]{24}-[a-f0-9]{100,}/, "origin certificates"],
  ["Cloudflare", "cfut_ cfat_ cfk_ cfoat_ CFPAT-", WORD20, "zones; content"],
  ["Scalingo", "tk-us-", WORD30, "applications"],
  ["Scaleway", "SCW", /[A-Z0-9]{17}(?![A-Za-z0-9])/, "servers"],
  ["Exoscale", "EXO", /[a-f0-9]{24}/, "servers"],
  ["UpCloud", "ucat_", WORD20, "servers"],
  ["Alibaba", "LTAI", /[A-Za-z0-9]{12,30}/, "cloud resources"],
  ["Tencent", "AKID", /[A-Za-z0-9]{32}/, "cloud resources"],
  ["Yandex", "AQVN YCA t1.", /[\w-]{30,}(?:\.[\w-]{40,})?/, "cloud resources"],
  ["Baidu", "bce-v3/ALTAK-", /[\w/-]{30,}/, "cloud resources"],
  ["Aiven", "AVNS_ aivenv1_", WORD16, "databases"],

  // Code, packages, builds
  ["GitHub", "ghp_ gho_ ghu_ ghs_ ghr_", /[\w.-]{30,}/, "repositories"],
  ["GitHub", "github_pat_", /\w{22,}/, "repositories"],
  [
    "GitLab",
    "glpat- glptt- gldt- glrt- glrtr- glcbt- glft- glsoat- glagent- glimt- glffct- gloas- glwt- GR1348941",
    /[\w-]{16,}(?:\.[0-9a-z]{2,12}){0,3}/,
    "repositories and pipelines",
  ],
  ["Bitbucket", "ATBB BBDC-", /[A-Za-z0-9+/=]{24,}/, "repositories"],
  ["Atlassian", "ATATT3 ATCTT3 ATSTT3 ATOAT ATTA", /[\w=-]{50,}/, "issues and pages"],
  ["Sourcegraph", "sgp_ slk_ sgd_", /(?:(?:local|[a-fA-F0-9]{16})_)?[a-fA-F0-9]{40,}/, "code search"],
  ["Gitea", "gta_", ALNUM24, "repositories"],
  ["npm", "npm_ NPM_", /[A-Za-z0-9]{30,}/, "packages"],
  ["PyPI", "pypi-AgE pypi-", /[\w-]{50,}/, "packages"],
  ["RubyGems", "rubygems_", /[a-fA-F0-9]{40,}/, "packages"],
  ["NuGet", "oy2", /[a-z0-9]{43}(?![a-z0-9])/, "packages"],
  ["crates.io", "cio", /[A-Za-z0-9]{32}(?![A-Za-z0-9])/, "packages"],
  ["Clojars", "CLOJARS_ clojars_", /[a-zA-Z0-9]{50,}/, "packages"],
  ["Packagist", "packagist_ pkgst_", WORD20, "packages"],
  ["Deno", "ddp_ ddo_ dde_ ddw_ jsrp_ jsrd_", ALNUM24, "deployments and packages"],
  ["Docker", "dckr_pat_ dckr_oat_", WORD16, "images"],
  ["JFrog", "AKCp cmVmd AP6 eyJ2ZXIiOiIy", /[A-Za-z0-9]{50,}/, "packages"],
  ["CircleCI", "CCIPAT_ CCIPRJ_", /[\w-]{24,}/, "builds"],
  ["Buildkite", "bkua_ bkct_ bkaj_ bkpt_ bkrt_", ALNUM24, "builds"],
  ["Octopus", "API-", /[A-Z0-9]{25,27}(?![A-Za-z0-9])/, "deployments"],
  ["Harness", "pat. sat.", /[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}/, "deployments"],
  ["SonarQube", "sqp_ squ_ sqa_ sqb_", HEX40, "code analysis"],
  ["Snyk", "snyk_uat. snyk_sat. snyk_", /[\w.-]{24,}/, "vulnerability reports"],
  ["Socket", "sktsec_", WORD20, "vulnerability reports"],
  ["Infracost", "ico-", ALNUM24, "cost reports"],
  ["Postman", "PMAK- PMAT-", /[a-zA-Z0-9-]{24,}/, "collections"],
  ["ReadMe", "rdme_", /[a-z0-9]{50,}/, "documentation"],
  ["dbt", "dbtc_ dbtu_", WORD20, "data pipelines"],
  ["Prefect", "pnu_ pnb_", ALNUM24, "data pipelines"],
  ["Expo", "expo_ eas_", WORD30, "app builds"],

  // Models
  ["Anthropic", "sk-ant-", WORD20, "models, at its owner's cost"],
  ["OpenAI", "sk-proj- sk-svcacct- sk-admin- sk-None- sess-", WORD20, "models"],
  ["OpenRouter, Langfuse, Helicone", "sk-or-v1- sk-lf- pk-lf- sk-helicone-", /[\w-]{16,}/, "models"],
  ["OpenAI", "sk-", /(?=[\w-]{0,40}\d)[\w-]{20,}/, "models; other providers write theirs alike"],
  ["Hugging Face", "hf_ api_org_", /[A-Za-z0-9]{30,}/, "models"],
  ["Groq", "gsk_", ALNUM24, "models"],
  ["Perplexity", "pplx-", ALNUM24, "models"],
  ["Replicate", "r8_", ALNUM24, "models"],
  ["xAI", "xai-", ALNUM24, "models"],
  ["NVIDIA", "nvapi-", WORD30, "models"],
  ["Together, Fireworks, Cerebras", "tgp_v1_ fw_ fpk_ csk-", ALNUM16, "models"],
  ["LangSmith", "lsv2_pt_ lsv2_sk_ ls__", /[a-f0-9]{30,}(?:_[a-f0-9]{8,})?/, "traces"],
  ["Pinecone", "pcsk_", WORD30, "vectors"],
  ["Jina, Tavily, Firecrawl", "jina_ tvly- fc-", /(?=[\w-]{0,30}\d)[\w-]{24,}/, "searches"],
  ["Weights & Biases", "wandb_v1_", WORD30, "training runs"],
  ["Voiceflow, Voyage", "VF.DM. VF.WS. pa-", /(?=[\w-]{0,40}\d)[\w.-]{30,}/, "models"],
  ["E2B, RunPod, Modal", "e2b_ rpa_ ak- as-", /(?=[A-Za-z0-9]{0,30}\d)[A-Za-z0-9]{22,}/, "machines"],
  ["Browserbase, Apify", "bb_live_ apify_api_", WORD16, "browsers"],

  // Chat and mail
  [
    "Slack",
    "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.xox xapp- xwfp-",
    /[\w%.+/=-]{8,}/,
    "a workspace",
  ],
  ["Slack webhook", "hooks.slack.com/", /(?:services|workflows|triggers)\/[\w+/-]{16,}/, "messages to a channel"],
  ["Slack webhook", "hooks.slack-gov.com/", /(?:services|workflows|triggers)\/[\w+/-]{16,}/, "messages to a channel"],
  [
    "Discord webhook",
    "discord.com/api/ discordapp.com/api/ canary.discord.com/api/ ptb.discord.com/api/",
    /(?:v\d+\/)?webhooks\/\d{5,30}\/[\w-]{20,}/,
    "messages to a channel",
  ],
  ["Discord bot", "M N O", /[\w-]{22,27}\.[\w-]{6}\.[\w-]{25,}/, "a bot"],
  ["Discord", "mfa.", /[\w-]{80,}/, "an account"],
  ["Telegram bot", "0 1 2 3 4 5 6 7 8 9", /\d{4,15}:A[\w-]{33,}/, "a bot"],
  ["Facebook application", "0 1 2 3 4 5 6 7 8 9", /\d{14,15}(?:\||%7C)[\w-]{27,}/, "an application"],
  ["Teams webhook", "webhook.office.com/", /webhookb?2?\/[\w@/-]{40,}/, "messages to a channel"],
  [
    "Google Chat webhook",
    "chat.googleapis.com/",
    /v1\/spaces\/[\w-]{5,40}\/messages\?[^\s"'<>]{20,}/,
    "messages to a room",
  ],
  [
    "Zapier, Make hooks",
    "hooks.zapier.com/hooks/catch/ hook.eu1.make.com/ hook.us1.make.com/",
    /[\w/-]{12,}/,
    "a workflow",
  ],
  ["Logic Apps", "logic.azure.com", /[^\s"'<>]{0,400}sig=[\w%-]{20,}/, "a workflow"],
  ["SendGrid", "SG.", /[\w=-]{10,70}[.=][\w.=-]{16,}/, "mail"],
  ["Mailgun", "key- pubkey-", HEX32, "mail"],
  ["Mandrill, Resend", "md- re_", /(?=[\w-]{0,20}\d)(?=[\w-]{0,20}[A-Z])[\w-]{20,}/, "mail"],
  ["Brevo", "xkeysib- xsmtpsib-", /[a-f0-9]{64}-[A-Za-z0-9]{12,}/, "mail"],
  ["Twilio", "SK AC", /[0-9a-fA-F]{32}(?![0-9a-zA-Z])/, "calls and messages"],
  ["OneSignal", "os_v2_", WORD30, "push messages"],
  ["PubNub", "sub-c- pub-c- sec-c-", /[A-Za-z0-9+/=-]{30,}/, "live messages"],
  [
    "WeChat, DingTalk robot",
    "oapi.dingtalk.com/robot/send?access_token= qyapi.weixin.qq.com/cgi-bin/webhook/send?key= open.feishu.cn/open-apis/bot/v2/hook/",
    WORD20,
    "messages to a group",
  ],

  // Money and trade
  [
    "Stripe",
    "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ pk_live_ pk_test_ sk_org_",
    /\w{10,}/,
    "payments; Paystack and Clerk write theirs alike",
  ],
  ["Standard Webhooks", "whsec_ whsk_", /[A-Za-z0-9+/=]{20,}/, "forged events"],
  ["Square", "sq0atp- sq0csp- sq0idp- sq0ids- EAAA", /[\w-]{20,}/, "payments"],
  ["PayPal Braintree", "access_token$", /(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}/, "payments"],
  ["Plaid", "access-sandbox- access-development- access-production- public-production-", UUID, "bank accounts"],
  ["Razorpay", "rzp_live_ rzp_test_", /[A-Za-z0-9]{10,}/, "payments"],
  ["Flutterwave", "FLWSECK FLWPUBK", /(?:_TEST)?-[a-zA-Z0-9]{10,}(?:-X)?/, "payments"],
  ["Adyen", "AQE", /[A-Za-z0-9+/=-]{50,}/, "payments"],
  ["Mollie, Lob, Chargebee, GoCardless", "live_ test_", /(?:pub_)?(?=[\w=-]{0,30}\d)[\w=-]{28,}/, "payments and post"],
  ["Paddle", "pdl_live_apikey_ pdl_sdbx_apikey_", WORD20, "payments"],
  ["Shopify", "shpat_ shpca_ shppa_ shpss_ shptka_", /[a-fA-F0-9]{32}/, "a shop"],
  ["WooCommerce", "ck_ cs_", /[a-f0-9]{40}/, "a shop"],
  ["Shippo", "shippo_live_ shippo_test_", HEX40, "shipments"],
  ["EasyPost", "EZAK EZTK", /[A-Za-z0-9]{50,}/, "shipments"],
  ["Duffel", "duffel_test_ duffel_live_", /[\w=-]{40,}/, "flights"],
  ["Mercury, Brex, Ramp", "secret-token:mercury_ bxt_ ramp_sec_", WORD20, "bank accounts"],
  ["Stytch", "secret-live- secret-test-", /[\w=-]{20,}/, "sign-ins"],

  // Databases and data
  ["Databricks", "dapi dose", /[a-fA-F0-9]{32}(?:-\d)?/, "data"],
  ["PlanetScale", "pscale_tkn_ pscale_oauth_ pscale_pw_ pscale_app_", /[\w=.-]{30,}/, "databases"],
  ["Supabase", "sbp_ sb_secret_ sb_publishable_ sbp_oauth_", WORD20, "databases"],
  ["Neon", "napi_ npg_", /[A-Za-z0-9]{12,}/, "databases"],
  ["MongoDB Atlas", "mdb_sa_sk_", WORD20, "databases"],
  ["CockroachDB", "CCDB1_", WORD20, "databases"],
  ["ClickHouse", "4b1d", /[A-Za-z0-9]{38}(?![A-Za-z0-9])/, "databases"],
  ["Xata, Nhost, Materialize", "xau_ nhp_ mzp_", ALNUM24, "databases"],
  ["Fauna", "fnA", /[\w-]{37,}/, "databases"],
  ["Tinybird", "p.eyJ", /[\w-]{20,}(?:\.[\w-]{20,})?/, "data"],
  ["Confluent", "cflt", /[A-Za-z0-9+/]{50,}/, "streams"],
  ["Airtable", "pat", /[A-Za-z0-9]{14}\.[a-f0-9]{64}/, "tables"],
  ["Algolia, Appwrite", "standard_", HEX64, "data"],

  // Watching systems
  ["New Relic", "NRAK- NRII- NRJS- NRIQ- NRRA- NRSP-", /[A-Za-z0-9_-]{18,}/, "telemetry"],
  ["Datadog", "ddapi_ ddapp_ ddpat_", WORD20, "telemetry"],
  ["Grafana", "glsa_ glc_", /[\w+/=]{30,}/, "dashboards"],
  ["Sentry", "sntrys_ sntryu_ sntrya_", /[\w+/=-]{30,}/, "errors"],
  ["PagerDuty", "pdus+ pdeu+ u+", /[\w+-]{18,}/, "alerts"],
  ["Dynatrace", "dt0c01. dt0s01. dt0s02. dt0s08. dt0s16.", /[A-Za-z0-9]{8,24}\.[A-Za-z0-9]{40,}/, "telemetry"],
  ["Honeycomb", "hcaik_ hcxik_ hcamk_ hcbik_", ALNUM24, "telemetry"],
  ["Axiom", "xaat- xapt-", UUID, "telemetry"],
  ["Elastic", "essu_", BASE64_30, "search"],
  ["PostHog", "phc_ phx_ phs_", ALNUM32, "analytics"],
  ["Rootly, FireHydrant", "rootly_ fhb-", /[a-f0-9]{40,}/, "incidents"],
  ["LaunchDarkly", "sdk- api- mob-", UUID, "feature flags"],

  // Secrets of secrets, identity, networks
  ["Vault", "hvs. hvb. hvr.", WORD20, "every secret it keeps"],
  ["Vault", "s. b.", /(?=[A-Za-z]{0,23}\d)[A-Za-z0-9]{24}(?![A-Za-z0-9])/, "every secret it keeps"],
  ["Doppler", "dp.pt. dp.st. dp.ct. dp.sa. dp.said. dp.scim. dp.audit.", /[\w.-]{20,}/, "every secret it keeps"],
  ["1Password", "ops_eyJ", /[A-Za-z0-9+/=]{40,}/, "every secret it keeps"],
  ["1Password", "A3-", /[A-Z0-9]{6}-[A-Z0-9-]{24,32}/, "a vault"],
  ["Infisical", "st.", /[a-f0-9]{24}\.[a-f0-9]{32}\.[a-f0-9]{32}/, "every secret it keeps"],
  [
    "Bitwarden",
    "0.",
    /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\.[A-Za-z0-9]{30}:[\w+/=]{20,}/,
    "every secret it keeps",
  ],
  ["Pulumi", "pul-", HEX40, "infrastructure"],
  ["Tailscale", "tskey-", /[\w-]{12,}/, "a network"],
  ["Defined Networking", "dnkey-", /[\w=-]{40,}/, "a network"],
  ["Teleport, Ory, Authress", "ory_st_ ory_pat_ ory_at_ ory_rt_", WORD20, "sign-ins"],
  [
    "Authress",
    "sc_ ext_ scauth_ authress_",
    /[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][A-Za-z0-9-]{10,32}\.[\w+/=-]{30,}/,
    "sign-ins",
  ],
  ["OpenShift", "sha256~", /[\w-]{40,}/, "a cluster"],
  ["Kubernetes bootstrap, Kong", "kpat_ spat_", WORD20, "a gateway"],
  ["age", "AGE-SECRET-KEY-1", /[A-Za-z0-9]{50,}/, "encrypted files"],
  [
    "Ansible Vault",
    "ANSIBLE_VAULT;",
    /[\d.]{3,5};AES256(?:;[\w-]{1,40})?\s+(?:[0-9a-f]{20,80}\s{1,20}){0,200}[0-9a-f]{8,80}/,
    "deployments",
  ],
  ["MaxMind", "mmk_", WORD20, "data"],

  // Work and content
  ["Notion", "ntn_ secret_", /(?=[A-Za-z0-9]{0,30}\d)[A-Za-z0-9]{40,}/, "pages"],
  ["Linear", "lin_api_ lin_oauth_ lin_wh_", /\w{24,}/, "issues"],
  ["Figma", "figd_ figu_ figo_ figur_ figuh_", WORD20, "designs"],
  ["ClickUp", "pk_", /\d{5,10}_[A-Z0-9]{24,}/, "tasks"],
  ["Klaviyo", "pk_", /[a-f0-9]{34}/, "customers"],
  ["Freemius, Sanity, WorkOS", "sk_", /(?=[^\s"']{0,20}\d)[^\s"',;<>]{29,}/, "licences and content"],
  ["Typeform", "tfp_", /[\w.=-]{30,}/, "forms"],
  ["HubSpot", "pat-na1- pat-eu1- pat-ap1- pat-na2-", UUID, "customers"],
  ["Salesforce", "00D", /[A-Za-z0-9]{12,15}![\w.]{60,}/, "customers"],
  ["Intercom", "dG9rOj", BASE64_30, "customers"],
  ["Frame.io", "fio-u-", /[\w=-]{50,}/, "videos"],
  ["Dropbox", "sl.", /[\w=.-]{100,}/, "files"],
  ["Adobe", "p8e-", /[A-Za-z0-9]{30,}/, "an application"],
  ["Beamer", "b_", /(?=[\w=-]{0,30}\d)[\w=-]{44}(?![\w-])/, "announcements"],
  ["Mapbox", "pk.eyJ sk.eyJ tk.eyJ", /[\w-]{20,}(?:\.[\w-]{10,})?/, "maps"],
  ["Facebook", "EAA", /[A-Za-z0-9]{50,}/, "pages and people"],
  ["Instagram", "IGQ IGAA", /[\w-]{60,}/, "an account"],
  ["Twitter", "AAAAAAAAAAAAAAAAAAAAA", /[A-Za-z0-9%]{50,}/, "an account"],
  ["LinkedIn", "WPL_AP1.", /[\w.+/=]{16,}/, "an account"],
  ["VK", "vk1.a.", /[\w-]{60,}/, "an account"],
  ["Pinterest", "pina_", WORD30, "an account"],
  ["Asana", "1/ 2/", /\d{10,20}(?:\/\d{10,20})?:[a-f0-9]{32}/, "tasks"],
  ["n8n, Retool, Metabase", "n8n_api_ retool_ mb_", /(?=[\w-]{0,40}\d)[\w-]{32,}/, "workflows"],
  ["Adafruit", "aio_", ALNUM24, "devices"],
  ["Samsara, Ubidots", "samsara_api_ BBFF- BBUS-", ALNUM24, "devices"],
  ["Settlemint", "sm_aat_ sm_pat_ sm_sat_", ALNUM16, "chains"],
  ["Intra 42", "s-s4t2ud- s-s4t2af- u-s4t2ud-", HEX64, "a school"],
  ["Inngest, Trigger", "signkey-prod- signkey-test- tr_prod_ tr_dev_", ALNUM16, "workflows"],
];

/** Keys that are known by something in their middle or at their end. */
export interface SecretInfix {
  provider: string;
  infix: string;
  before: RegExp;
  after: RegExp;
  opens: string;
}

export const SECRET_INFIXES: readonly SecretInfix[] = [
  {
    provider: "Terraform Cloud",
    infix: ".atlasv1.",
    before: /[A-Za-z0-9]{14}$/,
    after: /[\w=-]{30,}/y,
    opens: "infrastructure",
  },
  {
    provider: "Azure client secret",
    infix: "Q~",
    before: /[\w.~-]{3}\d$/,
    after: /[\w.~-]{30,}/y,
    opens: "cloud resources",
  },
  { provider: "Mailchimp", infix: "-us", before: /(?<![0-9a-f])[0-9a-f]{32}$/, after: /\d{1,2}/y, opens: "mail" },
  { provider: "MaxMind", infix: "_mmk", before: /[A-Za-z0-9]{6}_[A-Za-z0-9]{29}$/, after: /(?!\w)/y, opens: "data" },
  { provider: "New Relic licence", infix: "NRAL", before: /[A-Za-z0-9]{30,36}$/, after: /(?!\w)/y, opens: "telemetry" },
  {
    provider: "DeepL",
    infix: ":fx",
    before: /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
    after: /(?!\w)/y,
    opens: "translations",
  },
];

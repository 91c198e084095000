/**
 * The published form of one provider's keys: its name, the literal starts (apart by spaces), and the characters that
 * follow. Only a literal is free: an expression that is made of a text costs every command that starts.
 */
type SecretForm = readonly [provider: string, starts: string, rest: RegExp | string];

const UUID = /[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}/;
const BASE64 = /[\w+/=-]{30,}/;

/**
 * Keys that are known by how they start. A start is case-sensitive, as its provider writes it. Nothing has to come after
 * an unbounded part, so that a scan stays linear. Of two forms with the same start the first that fits counts.
 */
export const SECRET_FORMS: readonly SecretForm[] = [
  ["askd", "askd_a_ askd_h_ askd_l_ askd_x_", word(20)],

  // Clouds and hosting
  ["AWS", "AKIA ASIA ABIA ACCA AGPA AIDA AROA AIPA ANPA ANVA APKA A3T", /[A-Z0-9]{16,17}(?![A-Za-z0-9])/],
  ["AWS session", "FwoGZXIvYXdz IQoJb3JpZ2lu FQoGZXIvYXdz", BASE64],
  ["AWS Bedrock", "ABSK bedrock-api-key-", /[A-Za-z0-9+/=]{60,}/],
  ["AWS AppSync", "da2-", /[a-z0-9]{26}/],
  ["Amazon MWS", "amzn.mws.", UUID],
  ["Amazon login", "Atza| Atzr| amzn1.oa2-cs.v1.", word(30)],
  ["Google", "AIza", word(33)],
  ["Google OAuth", "GOCSPX- ya29. 1//0 AQ.Ab8", word(20)],
  ["Google storage", "GOOG1E GOOG", /[A-Z0-9]{20,}/],
  ["Firebase messaging", "AAAA", /[\w-]{7}:APA91b[\w-]{60,}/],
  ["Azure storage access", "AZDO azdo", alnum(48)],
  ["DigitalOcean", "dop_v1_ doo_v1_ dor_v1_ dosec_v1_", /[a-fA-F0-9]{40,}/],
  ["Heroku", "HRKU-", word(30)],
  ["Fly.io", "fo1_ fm1a_ fm1r_ fm2_", BASE64],
  ["Render", "rnd_", alnum(24)],
  ["Vercel", "vcp_ vci_ vca_ vcr_ vck_ vercel_blob_rw_", word(20)],
  ["Netlify", "nfp_ nfc_ nfo_ nfu_ nfb_", alnum(24)],
  ["Cloudflare", "v1.0-", /[a-f0-9]{24}-[a-f0-9]{100,}/],
  ["Cloudflare", "cfut_ cfat_ cfk_ cfoat_ CFPAT-", word(20)],
  ["Scalingo", "tk-us-", word(30)],
  ["Scaleway", "SCW", /[A-Z0-9]{17}(?![A-Za-z0-9])/],
  ["Exoscale", "EXO", /[a-f0-9]{24}/],
  ["UpCloud", "ucat_", word(20)],
  ["Alibaba", "LTAI", /[A-Za-z0-9]{12,30}/],
  ["Tencent", "AKID", /[A-Za-z0-9]{32}/],
  ["Yandex", "AQVN YCA t1.", /[\w-]{30,}(?:\.[\w-]{40,})?/],
  ["Baidu", "bce-v3/ALTAK-", /[\w/-]{30,}/],
  ["Aiven", "AVNS_ aivenv1_", word(16)],

  // Code, packages, builds
  ["GitHub", "ghp_ gho_ ghu_ ghs_ ghr_", /[\w.-]{30,}/],
  ["GitHub", "github_pat_", /\w{22,}/],
  [
    "GitLab",
    "glpat- glptt- gldt- glrt- glrtr- glcbt- glft- glsoat- glagent- glimt- glffct- gloas- glwt- GR1348941",
    /[\w-]{16,}(?:\.[0-9a-z]{2,12}){0,3}/,
  ],
  ["Bitbucket", "ATBB BBDC-", /[A-Za-z0-9+/=]{24,}/],
  ["Atlassian", "ATATT3 ATCTT3 ATSTT3 ATOAT ATTA", /[\w=-]{50,}/],
  ["Sourcegraph", "sgp_ slk_ sgd_", /(?:(?:local|[a-fA-F0-9]{16})_)?[a-fA-F0-9]{40,}/],
  ["Gitea", "gta_", alnum(24)],
  ["npm", "npm_ NPM_", alnum(30)],
  ["PyPI", "pypi-AgE pypi-", word(50)],
  ["RubyGems", "rubygems_", /[a-fA-F0-9]{40,}/],
  ["NuGet", "oy2", /[a-z0-9]{43}(?![a-z0-9])/],
  ["crates.io", "cio", /[A-Za-z0-9]{32}(?![A-Za-z0-9])/],
  ["Clojars", "CLOJARS_ clojars_", alnum(50)],
  ["Packagist", "packagist_ pkgst_", word(20)],
  ["Deno", "ddp_ ddo_ dde_ ddw_ jsrp_ jsrd_", alnum(24)],
  ["Docker", "dckr_pat_ dckr_oat_", word(16)],
  ["JFrog", "AKCp cmVmd AP6 eyJ2ZXIiOiIy", alnum(50)],
  ["CircleCI", "CCIPAT_ CCIPRJ_", word(24)],
  ["Buildkite", "bkua_ bkct_ bkaj_ bkpt_ bkrt_", alnum(24)],
  ["Octopus", "API-", /[A-Z0-9]{25,27}(?![A-Za-z0-9])/],
  ["Harness", "pat. sat.", /[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}/],
  ["SonarQube", "sqp_ squ_ sqa_ sqb_", hex(40)],
  ["Snyk", "snyk_uat. snyk_sat. snyk_", /[\w.-]{24,}/],
  ["Socket", "sktsec_", word(20)],
  ["Infracost", "ico-", alnum(24)],
  ["Postman", "PMAK- PMAT-", /[a-zA-Z0-9-]{24,}/],
  ["ReadMe", "rdme_", /[a-z0-9]{50,}/],
  ["dbt", "dbtc_ dbtu_", word(20)],
  ["Prefect", "pnu_ pnb_", alnum(24)],
  ["Expo", "expo_ eas_", word(30)],

  // Models
  ["Anthropic", "sk-ant-", word(20)],
  ["OpenAI", "sk-proj- sk-svcacct- sk-admin- sk-None- sess-", word(20)],
  ["OpenRouter, Langfuse, Helicone", "sk-or-v1- sk-lf- pk-lf- sk-helicone-", word(16)],
  ["OpenAI", "sk-", /(?=[\w-]{0,40}\d)[\w-]{20,}/], // other providers write theirs alike
  ["Hugging Face", "hf_ api_org_", alnum(30)],
  ["Groq", "gsk_", alnum(24)],
  ["Perplexity", "pplx-", alnum(24)],
  ["Replicate", "r8_", alnum(24)],
  ["xAI", "xai-", alnum(24)],
  ["NVIDIA", "nvapi-", word(30)],
  ["Together, Fireworks, Cerebras", "tgp_v1_ fw_ fpk_ csk-", alnum(16)],
  ["LangSmith", "lsv2_pt_ lsv2_sk_ ls__", /[a-f0-9]{30,}(?:_[a-f0-9]{8,})?/],
  ["Pinecone", "pcsk_", word(30)],
  ["Jina, Tavily, Firecrawl", "jina_ tvly- fc-", /(?=[\w-]{0,30}\d)[\w-]{24,}/],
  ["Weights & Biases", "wandb_v1_", word(30)],
  ["Voiceflow, Voyage", "VF.DM. VF.WS. pa-", /(?=[\w-]{0,40}\d)[\w.-]{30,}/],
  ["E2B, RunPod, Modal", "e2b_ rpa_ ak- as-", /(?=[A-Za-z0-9]{0,30}\d)[A-Za-z0-9]{22,}/],
  ["Browserbase, Apify", "bb_live_ apify_api_", word(16)],

  // Chat and mail
  ["Slack", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.xox xapp- xwfp-", /[\w%.+/=-]{8,}/],
  ["Slack webhook", "hooks.slack.com/", /(?:services|workflows|triggers)\/[\w+/-]{16,}/],
  ["Slack webhook", "hooks.slack-gov.com/", /(?:services|workflows|triggers)\/[\w+/-]{16,}/],
  [
    "Discord webhook",
    "discord.com/api/ discordapp.com/api/ canary.discord.com/api/ ptb.discord.com/api/",
    /(?:v\d+\/)?webhooks\/\d{5,30}\/[\w-]{20,}/,
  ],
  ["Discord bot", "M N O", /[\w-]{22,27}\.[\w-]{6}\.[\w-]{25,}/],
  ["Discord", "mfa.", word(80)],
  ["Telegram bot", "0 1 2 3 4 5 6 7 8 9", /\d{4,15}:A[\w-]{33,}/],
  ["Facebook application", "0 1 2 3 4 5 6 7 8 9", /\d{14,15}(?:\||%7C)[\w-]{27,}/],
  ["Teams webhook", "webhook.office.com/", /webhookb?2?\/[\w@/-]{40,}/],
  ["Google Chat webhook", "chat.googleapis.com/", /v1\/spaces\/[\w-]{5,40}\/messages\?[^\s"'<>]{20,}/],
  ["Zapier, Make hooks", "hooks.zapier.com/hooks/catch/ hook.eu1.make.com/ hook.us1.make.com/", /[\w/-]{12,}/],
  ["Logic Apps", "logic.azure.com", /[^\s"'<>]{0,400}sig=[\w%-]{20,}/],
  ["SendGrid", "SG.", /[\w=-]{10,70}[.=][\w.=-]{16,}/],
  ["Mailgun", "key- pubkey-", hex(32)],
  ["Mandrill, Resend", "md- re_", /(?=[\w-]{0,20}\d)(?=[\w-]{0,20}[A-Z])[\w-]{20,}/],
  ["Brevo", "xkeysib- xsmtpsib-", /[a-f0-9]{64}-[A-Za-z0-9]{12,}/],
  ["Twilio", "SK AC", /[0-9a-fA-F]{32}(?![0-9a-zA-Z])/],
  ["OneSignal", "os_v2_", word(30)],
  ["PubNub", "sub-c- pub-c- sec-c-", /[A-Za-z0-9+/=-]{30,}/],
  [
    "WeChat, DingTalk robot",
    "oapi.dingtalk.com/robot/send?access_token= qyapi.weixin.qq.com/cgi-bin/webhook/send?key= open.feishu.cn/open-apis/bot/v2/hook/",
    word(20),
  ],

  // Money and trade
  ["Stripe", "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ pk_live_ pk_test_ sk_org_", /\w{10,}/], // Paystack and Clerk write theirs alike
  ["Standard Webhooks", "whsec_ whsk_", /[A-Za-z0-9+/=]{20,}/],
  ["Square", "sq0atp- sq0csp- sq0idp- sq0ids- EAAA", word(20)],
  ["PayPal Braintree", "access_token$", /(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}/],
  ["Plaid", "access-sandbox- access-development- access-production- public-production-", UUID],
  ["Razorpay", "rzp_live_ rzp_test_", alnum(10)],
  ["Flutterwave", "FLWSECK FLWPUBK", /(?:_TEST)?-[a-zA-Z0-9]{10,}(?:-X)?/],
  ["Adyen", "AQE", /[A-Za-z0-9+/=-]{50,}/],
  ["Mollie, Lob, Chargebee, GoCardless", "live_ test_", /(?:pub_)?(?=[\w=-]{0,30}\d)[\w=-]{28,}/],
  ["Paddle", "pdl_live_apikey_ pdl_sdbx_apikey_", word(20)],
  ["Shopify", "shpat_ shpca_ shppa_ shpss_ shptka_", hex(32)],
  ["WooCommerce", "ck_ cs_", /[a-f0-9]{40}/],
  ["Shippo", "shippo_live_ shippo_test_", hex(40)],
  ["EasyPost", "EZAK EZTK", alnum(50)],
  ["Duffel", "duffel_test_ duffel_live_", /[\w=-]{40,}/],
  ["Mercury, Brex, Ramp", "secret-token:mercury_ bxt_ ramp_sec_", word(20)],
  ["Stytch", "secret-live- secret-test-", /[\w=-]{20,}/],

  // Databases and data
  ["Databricks", "dapi dose", /[a-fA-F0-9]{32}(?:-\d)?/],
  ["PlanetScale", "pscale_tkn_ pscale_oauth_ pscale_pw_ pscale_app_", /[\w=.-]{30,}/],
  ["Supabase", "sbp_ sb_secret_ sb_publishable_ sbp_oauth_", word(20)],
  ["Neon", "napi_ npg_", alnum(12)],
  ["MongoDB Atlas", "mdb_sa_sk_", word(20)],
  ["CockroachDB", "CCDB1_", word(20)],
  ["ClickHouse", "4b1d", /[A-Za-z0-9]{38}(?![A-Za-z0-9])/],
  ["Xata, Nhost, Materialize", "xau_ nhp_ mzp_", alnum(24)],
  ["Fauna", "fnA", word(37)],
  ["Tinybird", "p.eyJ", /[\w-]{20,}(?:\.[\w-]{20,})?/],
  ["Confluent", "cflt", /[A-Za-z0-9+/]{50,}/],
  ["Airtable", "pat", /[A-Za-z0-9]{14}\.[a-f0-9]{64}/],
  ["Algolia, Appwrite", "standard_", hex(64)],

  // Watching systems
  ["New Relic", "NRAK- NRII- NRJS- NRIQ- NRRA- NRSP-", /[A-Za-z0-9_-]{18,}/],
  ["Datadog", "ddapi_ ddapp_ ddpat_", word(20)],
  ["Grafana", "glsa_ glc_", /[\w+/=]{30,}/],
  ["Sentry", "sntrys_ sntryu_ sntrya_", /[\w+/=-]{30,}/],
  ["PagerDuty", "pdus+ pdeu+ u+", /[\w+-]{18,}/],
  ["Dynatrace", "dt0c01. dt0s01. dt0s02. dt0s08. dt0s16.", /[A-Za-z0-9]{8,24}\.[A-Za-z0-9]{40,}/],
  ["Honeycomb", "hcaik_ hcxik_ hcamk_ hcbik_", alnum(24)],
  ["Axiom", "xaat- xapt-", UUID],
  ["Elastic", "essu_", BASE64],
  ["PostHog", "phc_ phx_ phs_", alnum(32)],
  ["Rootly, FireHydrant", "rootly_ fhb-", /[a-f0-9]{40,}/],
  ["LaunchDarkly", "sdk- api- mob-", UUID],

  // Secrets of secrets, identity, networks
  ["Vault", "hvs. hvb. hvr.", word(20)],
  ["Vault", "s. b.", /(?=[A-Za-z]{0,23}\d)[A-Za-z0-9]{24}(?![A-Za-z0-9])/],
  ["Doppler", "dp.pt. dp.st. dp.ct. dp.sa. dp.said. dp.scim. dp.audit.", /[\w.-]{20,}/],
  ["1Password", "ops_eyJ", /[A-Za-z0-9+/=]{40,}/],
  ["1Password", "A3-", /[A-Z0-9]{6}-[A-Z0-9-]{24,32}/],
  ["Infisical", "st.", /[a-f0-9]{24}\.[a-f0-9]{32}\.[a-f0-9]{32}/],
  ["Bitwarden", "0.", /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\.[A-Za-z0-9]{30}:[\w+/=]{20,}/],
  ["Pulumi", "pul-", hex(40)],
  ["Tailscale", "tskey-", word(12)],
  ["Defined Networking", "dnkey-", /[\w=-]{40,}/],
  ["Teleport, Ory, Authress", "ory_st_ ory_pat_ ory_at_ ory_rt_", word(20)],
  [
    "Authress",
    "sc_ ext_ scauth_ authress_",
    /[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][A-Za-z0-9-]{10,32}\.[\w+/=-]{30,}/,
  ],
  ["OpenShift", "sha256~", word(40)],
  ["Kubernetes bootstrap, Kong", "kpat_ spat_", word(20)],
  ["age", "AGE-SECRET-KEY-1", alnum(50)],
  [
    "Ansible Vault",
    "ANSIBLE_VAULT;",
    /[\d.]{3,5};AES256(?:;[\w-]{1,40})?\s+(?:[0-9a-f]{20,80}\s{1,20}){0,200}[0-9a-f]{8,80}/,
  ],
  ["MaxMind", "mmk_", word(20)],

  // Work and content
  ["Notion", "ntn_ secret_", /(?=[A-Za-z0-9]{0,30}\d)[A-Za-z0-9]{40,}/],
  ["Linear", "lin_api_ lin_oauth_ lin_wh_", /\w{24,}/],
  ["Figma", "figd_ figu_ figo_ figur_ figuh_", word(20)],
  ["ClickUp", "pk_", /\d{5,10}_[A-Z0-9]{24,}/],
  ["Klaviyo", "pk_", /[a-f0-9]{34}/],
  ["Freemius, Sanity, WorkOS", "sk_", /(?=[^\s"']{0,20}\d)[^\s"',;<>]{29,}/],
  ["Typeform", "tfp_", /[\w.=-]{30,}/],
  ["HubSpot", "pat-na1- pat-eu1- pat-ap1- pat-na2-", UUID],
  ["Salesforce", "00D", /[A-Za-z0-9]{12,15}![\w.]{60,}/],
  ["Intercom", "dG9rOj", BASE64],
  ["Frame.io", "fio-u-", /[\w=-]{50,}/],
  ["Dropbox", "sl.", /[\w=.-]{100,}/],
  ["Adobe", "p8e-", alnum(30)],
  ["Beamer", "b_", /(?=[\w=-]{0,30}\d)[\w=-]{44}(?![\w-])/],
  ["Mapbox", "pk.eyJ sk.eyJ tk.eyJ", /[\w-]{20,}(?:\.[\w-]{10,})?/],
  ["Mapbox", "pk. sk.", /[a-z0-9]{60}\.[a-z0-9]{22}/],
  ["Facebook", "EAA", alnum(50)],
  ["Instagram", "IGQ IGAA", word(60)],
  ["Twitter", "AAAAAAAAAAAAAAAAAAAAA", /[A-Za-z0-9%]{50,}/],
  ["LinkedIn", "WPL_AP1.", /[\w.+/=]{16,}/],
  ["VK", "vk1.a.", word(60)],
  ["Pinterest", "pina_", word(30)],
  ["Asana", "1/ 2/", /\d{10,20}(?:\/\d{10,20})?:[a-f0-9]{32}/],
  ["n8n, Retool, Metabase", "n8n_api_ retool_ mb_", /(?=[\w-]{0,40}\d)[\w-]{32,}/],
  ["Adafruit", "aio_", alnum(24)],
  ["Samsara, Ubidots", "samsara_api_ BBFF- BBUS-", alnum(24)],
  ["Settlemint", "sm_aat_ sm_pat_ sm_sat_", alnum(16)],
  ["Intra 42", "s-s4t2ud- s-s4t2af- u-s4t2ud-", hex(64)],
  ["Inngest, Trigger", "signkey-prod- signkey-test- tr_prod_ tr_dev_", alnum(16)],
];

/** A key that is known by something in its middle or at its end. */
type SecretInfix = readonly [provider: string, infix: string, before: RegExp, after: RegExp];

const NO_MORE = /(?!\w)/y;

export const SECRET_INFIXES: readonly SecretInfix[] = [
  ["Terraform Cloud", ".atlasv1.", /[A-Za-z0-9]{14}$/, /[\w=-]{30,}/y],
  ["Azure client secret", "Q~", /[\w.~-]{3}\d$/, /[\w.~-]{30,}/y],
  ["Mailchimp", "-us", /(?<![0-9a-f])[0-9a-f]{32}$/, /\d{1,2}/y],
  ["MaxMind", "_mmk", /[A-Za-z0-9]{6}_[A-Za-z0-9]{29}$/, NO_MORE],
  ["New Relic licence", "NRAL", /[A-Za-z0-9]{30,36}$/, NO_MORE],
  ["DeepL", ":fx", /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, NO_MORE],
];

/** At least so many letters, digits, dashes and underscores. */
function word(least: number) {
  return `[\\w-]{${least},}`;
}

/** At least so many letters and digits. */
function alnum(least: number) {
  return `[A-Za-z0-9]{${least},}`;
}

/** Exactly so many hexadecimal digits. */
function hex(count: number) {
  return `[0-9a-fA-F]{${count}}`;
}

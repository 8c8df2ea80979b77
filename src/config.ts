import { createPrivateKey } from 'node:crypto'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import ipaddr from 'ipaddr.js'
import {
  Expected,
  list,
  oneOf,
  optional,
  optionalWhole,
  type Setting,
  setting,
  text,
  url,
  whole,
} from './kernel/setting.ts'
import { ADAPTERS, GATEWAY_NAMES, GATEWAY_SETTINGS } from './modules/payments/adapters/all.ts'

const secret = (meaning: string, form = /^.{32,}$/s, expected = 'at least 32 characters') => ({
  ...setting<string | undefined>(undefined, expected, meaning, (value) => {
    if (!form.test(value)) throw new Expected()
    return value
  }),
  secret: true as const,
})

/**
 * A setting with a token, which is sent in a header and therefore cannot contain a line end that was copied with it.
 */
const token = (meaning: string) =>
  secret(
    meaning,
    /^[!-~][ -~]{30,}[!-~]$/,
    'at least 32 ASCII characters, without a space at either end',
  )

/** A setting with a database URL, which contains a password, so it is never shown. */
const databaseUrl = (meaning: string) => ({
  ...url(['postgres', 'postgresql'], meaning),
  secret: true as const,
})

const UNIT_SECONDS: Record<string, number> = { s: 1, m: 60, h: 3_600 }

const ladder = (fallback: string, meaning: string) => {
  const read = (value: string) =>
    value.split(',').map((step) => {
      const [, count, unit] = /^(\d{1,6})([smh])$/.exec(step.trim()) ?? []
      if (count === undefined || unit === undefined) throw new Expected()
      return Number(count) * (UNIT_SECONDS[unit] ?? 1)
    })
  return setting<readonly number[]>(read(fallback), `durations such as ${fallback}`, meaning, read)
}

/** The fewest bits of a key: receivers of mail do not trust a shorter one. */
const RSA_BITS_MIN = 1_024

/**
 * A setting with a private RSA key as PEM. Its lines may be joined by `\
 * `, since many places keep a setting on one line.
 */
const rsaKey = (meaning: string) => ({
  ...setting<string | undefined>(undefined, 'an RSA key as PEM', meaning, (value) => {
    const pem = value.replaceAll('\\n', '\n')
    const details = orExpected(() => createPrivateKey(pem))
    const bits = details.asymmetricKeyDetails?.modulusLength ?? 0
    if (details.asymmetricKeyType !== 'rsa' || bits < RSA_BITS_MIN) throw new Expected()
    return pem
  }),
  secret: true as const,
})

function orExpected<T>(read: () => T): T {
  try {
    return read()
  } catch {
    throw new Expected()
  }
}

const isHostPort = (item: string) => /^[a-z0-9.[\]:-]+:\d{1,5}$/i.test(item)
/** Whether a text is an address, or an address and a port: `192.0.2.1:53`, `[2001:db8::1]:53`. */
const isAddressPort = (item: string) =>
  isIP(item) !== 0 || isIP(/^\[?([^[\]]+)\]?:\d{1,5}$/.exec(item)?.[1] ?? '') !== 0
/**
 * Whether a text is an address or a range of addresses. `/0` is refused, since it is every address: any caller could
 * then claim any address, and no limit would count.
 */
const isAddressRange = (item: string) =>
  isIP(item) !== 0 || (ipaddr.isValidCIDR(item) && !item.endsWith('/0'))

/**
 * The settings of a process. This is the only file that reads the environment. A test compares
 * `docs/reference/configuration.md` with this table. Why the readers are no schema: decision 0004.
 */
export const SETTINGS = {
  NODE_ENV: oneOf(
    'development',
    ['development', 'test', 'production'],
    '`production` refuses defaults that are meant for development',
  ),
  HOST: text('127.0.0.1', 'the address to listen on'),
  PORT: whole(8080, 0, 65_535, 'the port to listen on; 0: any free port'),
  PUBLIC_URL: url(
    ['http', 'https'],
    'the public address, in production https; default: the one it listens on',
  ),
  ASSET_BASE_URL: {
    ...url(['http', 'https'], 'the base of `image_url`; default: `PUBLIC_URL`; empty: none'),
    emptyCounts: true as const,
  },
  TRUST_PROXY: list(
    'addresses or CIDR ranges',
    'the proxies whose `x-forwarded-for` is trusted',
    isAddressRange,
  ),
  DATA_DIR: text('.data', 'has the embedded database, local assets and generated secrets'),
  DATABASE_URL: databaseUrl('the PostgreSQL server; unset: an embedded one under `DATA_DIR`'),
  DATABASE_APP_URL: databaseUrl("the API's login, if `DATABASE_URL` cannot create roles"),
  DATABASE_WORKER_URL: databaseUrl("the worker's login, if `DATABASE_URL` cannot create roles"),
  DATABASE_OPERATOR_URL: databaseUrl("the operator plane's login, in that case too"),
  DATABASE_DIRECT_URL: databaseUrl('for notifications, if `DATABASE_URL` is a connection pooler'),
  LIVE_CACHE_MB: whole(
    256,
    1,
    65_536,
    'memory of the live cache in each process, in MiB; products as JSON take up to an eighth more',
  ),
  DNS_SERVERS: list(
    'addresses, each with an optional port',
    'the DNS servers for domains and webhook hosts; empty: those of the system',
    isAddressPort,
  ),
  DATABASE_POOL_MAX: whole(10, 2, 500, 'the connections of each pool in a process'),
  MIGRATE_ON_START: oneOf('true', ['true', 'false'], 'whether a start migrates the database'),
  OPERATOR_TOKEN: token("the operator's credential; unset: generated into `DATA_DIR`"),
  STOREFRONT_TOKEN: token("the storefronts' credential; unset: generated into `DATA_DIR`"),
  STOREFRONT_TOKEN_PREVIOUS: token('also accepted, while storefronts change tokens'),
  STOREFRONT_API_URL: url(['http', 'https'], "the platform's address, for the role `storefront`"),
  STOREFRONT_ZONE: optional(
    'stores are at `<tenant>.<zone>`; default `localhost`, in production none',
  ),
  SECRET_KEY: secret('the root of all derived keys; unset: generated into `DATA_DIR`'),
  PAYMENT_GATEWAY: oneOf(
    undefined,
    GATEWAY_NAMES,
    'the gateway of stores without their own setting; default `simulated`, required in production',
  ),
  ...GATEWAY_SETTINGS,
  TAX_PROVIDER_URL: url(['http', 'https'], 'the tax service, for policies that name one'),
  TAX_PROVIDER_KEY: { ...optional('its key, sent as a bearer token'), secret: true as const },
  WEBHOOK_RETRY_LADDER: ladder('1m,5m,30m,2h,12h', 'the waits between attempts; for tests only'),
  WEBHOOK_TEST_TARGETS: list(
    'host:port',
    'endpoints that need not be public HTTPS; refused in production',
    isHostPort,
  ),
  OWN_ADDRESSES: list(
    'addresses',
    'public addresses of this installation, which webhooks must not reach',
    (item) => isIP(item) !== 0,
  ),
  RATE_LIMIT_MY_PER_MINUTE: whole(120, 1, 1_000_000, 'attempts per caller on `/v1/my/*`'),
  RATE_LIMIT_FAILED_PER_MINUTE: whole(30, 1, 1_000_000, 'failed attempts per caller elsewhere'),
  RATE_LIMIT_SIGNUPS_PER_HOUR: whole(20, 1, 1_000_000, 'sign-ups per caller, also successful ones'),
  RATE_LIMIT_LOGINS_PER_MINUTE: whole(60, 1, 1_000_000, 'logins per caller, also successful ones'),
  RATE_LIMIT_WRONG_PASSWORDS_PER_HOUR: whole(
    30,
    1,
    1_000_000,
    'wrong passwords per account: of unknown callers together, and of each known one',
  ),
  CHECKOUT_VELOCITY_PER_MINUTE: whole(30, 1, 1_000_000, 'checkout attempts per store and shopper'),
  REDIS_URL: {
    ...url(['redis', 'rediss'], 'the Redis of the rate limiters; unset: they count in PostgreSQL'),
    secret: true as const,
  },
  MEDIA_MB_PER_STORE: whole(20_480, 1, 1_000_000_000, 'space for the images of one store, in MiB'),
  S3_BUCKET: optional('the S3 bucket of the assets; unset: local disk'),
  S3_ENDPOINT: url(['http', 'https'], 'the address of an S3 other than AWS'),
  AWS_REGION: text('us-east-1', "the bucket's region"),
  AWS_ACCESS_KEY_ID: { ...optional('unset: the default sources of AWS'), secret: true as const },
  AWS_SECRET_ACCESS_KEY: {
    ...optional('unset: the default sources of AWS'),
    secret: true as const,
  },
  RETENTION_WEBHOOK_DAYS: whole(
    90,
    30,
    36_500,
    'days that events, deliveries and attempts are kept',
  ),
  RETENTION_AUDIT_DAYS: whole(1_095, 365, 36_500, 'days that the audit log is kept'),
  RETENTION_TIMELINE_DAYS: whole(
    0,
    0,
    36_500,
    'days that timelines of orders are kept, at least 366; 0: for good',
  ),
  RETENTION_FRAUD_DAYS: whole(730, 30, 36_500, 'days that fraud decisions are kept'),
  RETENTION_MAIL_DAYS: whole(30, 1, 36_500, 'days that mails to owners are kept'),
  RETENTION_SHOPPER_MAIL_DAYS: whole(90, 7, 36_500, 'days that mails to shoppers are kept'),
  RETENTION_GATEWAY_EVENT_DAYS: whole(400, 60, 36_500, 'days that provider events are kept'),
  RETENTION_FUNNEL_DAYS: whole(800, 60, 36_500, 'days that counts of what shoppers did are kept'),
  RETENTION_PRICE_DAYS: whole(
    400,
    60,
    36_500,
    'days that past prices are kept; reductions are shown with the lowest of 30 days',
  ),
  RETENTION_COMPARISON_DAYS: whole(400, 60, 36_500, 'days that compared days of payments are kept'),
  RETENTION_RESERVATION_DAYS: whole(90, 7, 36_500, 'days that released reservations are kept'),
  SITE_VERSIONS_KEPT: optionalWhole(
    1,
    1_000_000,
    'how many of the newest versions of a site are kept; unset: all of them',
  ),
  RETENTION_ARCHIVE: oneOf(
    'off',
    ['off', 'on'],
    'whether rows are written to the blob store before they are dropped, see operations',
  ),
  SMTP_URL: {
    ...url(['smtp', 'smtps'], 'the SMTP server; unset: mail stays in its tables'),
    secret: true as const,
  },
  MAIL_FROM: text('Fairdock <no-reply@localhost>', 'the sender address of mail'),
  MAIL_DKIM_DOMAIN: optional('the domain that signs mail (DKIM): that of `MAIL_FROM`, or above it'),
  MAIL_DKIM_SELECTOR: optional('names the public key: `<selector>._domainkey.<domain>`'),
  MAIL_DKIM_KEY: rsaKey('the private key; unset: mail is not signed here'),
  MAIL_FEEDBACK_KEY: secret(
    'signs the bounces and complaints that are sent to `/v1/mail/feedback`; unset: none is accepted',
    /^(whsec_)?[A-Za-z0-9+/]{32,}={0,2}$/,
    'at least 24 bytes as base64, with or without `whsec_`',
  ),
  SHOPPER_MAILS_PER_MINUTE: whole(
    600,
    1,
    1_000_000,
    'mails to shoppers that one store sends in a minute; more wait',
  ),
  CAMPAIGN_MAILS_PER_MINUTE: whole(
    3_000,
    20,
    10_000_000,
    'mails of campaigns that one store sends in a minute; more wait',
  ),
  IDENTITY_JWKS_URL: url(['http', 'https'], 'the keys of a trusted identity provider'),
  IDENTITY_ISSUER: optional('the `iss` of its tokens'),
  IDENTITY_AUDIENCE: optional('the `aud` of its tokens'),
  IDENTITY_EMAIL_VERIFICATION: oneOf(
    undefined,
    ['off', 'required'],
    'whether owners must verify their e-mail address; default: required in production, else off',
  ),
  LOG_LEVEL: oneOf(
    undefined,
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    'the lowest level that is logged; default: `warn` in development, where a person reads the screen, else `info`',
  ),
  HISTORY_CHECK_DAYS: whole(
    7,
    1,
    365,
    'within how many days every old journal and stock movement is checked again',
  ),
  METRICS_PORT: whole(
    0,
    0,
    65_535,
    'the port of the Prometheus metrics, and of the questions of a TLS front; 0: none',
  ),
  TLS_FRONT: oneOf(
    'external',
    ['external', 'on_demand'],
    'what ends TLS for hostnames of stores: `external` has its certificates by other means; `on_demand` asks `/tls/ask` on the port of the metrics before it gets one',
  ),
} satisfies Record<string, Setting<unknown>>

type Name = keyof typeof SETTINGS
type Read = { [K in Name]: ReturnType<(typeof SETTINGS)[K]['read']> }

/** The error that lists every fault of the environment at once. It never shows a value. */
export class ConfigError extends Error {
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(`the configuration has ${faults.length} fault(s):\n  ${faults.join('\n  ')}`)
    this.name = 'ConfigError'
    this.faults = faults
  }
}

export type Config = ReturnType<typeof readConfig>

/** Reads and checks the environment. Throws one ConfigError that names every fault. */
export function readConfig(env: NodeJS.Dict<string> = process.env, isRenderer = false) {
  const faults: string[] = []
  const read = Object.fromEntries(
    Object.entries<Setting<unknown>>(SETTINGS).map(([name, setting]) => {
      const given = env[name]
      if (given === undefined || (given === '' && !setting.emptyCounts)) {
        return [name, setting.fallback]
      }
      if (given === '') return [name, '']
      try {
        return [name, setting.read(given)]
      } catch (error) {
        if (!(error instanceof Expected)) throw error
        faults.push(`${name} must be ${setting.expected}`)
        return [name, setting.fallback]
      }
    }),
  ) as Read
  faults.push(...(isRenderer ? storefrontFaults(read) : crossFaults(read)))
  if (faults.length > 0) throw new ConfigError(faults)
  return Object.freeze({ ...read, ...derive(read) })
}

/** Reads the key of `listen` if no key is typed: other users of the machine could see a typed one. */
export const readListenKey = (): string | undefined => process.env.FAIRDOCK_KEY

function derive(read: Read) {
  const production = read.NODE_ENV === 'production'
  return {
    production,
    DATA_DIR: resolve(read.DATA_DIR),
    assetBaseUrl: assetBaseOf(read),
    isHttps: isHttps(read),
    storefrontZone: read.STOREFRONT_ZONE ?? (production ? null : 'localhost'),
    MIGRATE_ON_START: read.MIGRATE_ON_START === 'true',
    dkim: dkimOf(read),
    PAYMENT_GATEWAY: read.PAYMENT_GATEWAY ?? 'simulated',
    IDENTITY_EMAIL_VERIFICATION:
      read.IDENTITY_EMAIL_VERIFICATION ?? (production ? 'required' : 'off'),
    LOG_LEVEL: read.LOG_LEVEL ?? (read.NODE_ENV === 'development' ? 'warn' : 'info'),
  }
}

/**
 * Whether shoppers reach the stores by https, so that cookies are for https alone. Without a public address this is
 * true in production: a cookie that is missing on http is noticed, a cookie that is sent unencrypted is not.
 */
const isHttps = ({ PUBLIC_URL, NODE_ENV }: Read): boolean =>
  PUBLIC_URL === undefined ? NODE_ENV === 'production' : new URL(PUBLIC_URL).protocol === 'https:'

/** The names of this machine itself, which no cookie leaves. */
const OWN_HOST = /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

function publicUrlFaults({ PUBLIC_URL, NODE_ENV }: Read): string[] {
  if (NODE_ENV !== 'production' || PUBLIC_URL === undefined) return []
  const { protocol, hostname } = new URL(PUBLIC_URL)
  if (protocol === 'https:' || OWN_HOST.test(hostname)) return []
  return ['PUBLIC_URL must be https in production: cookies and sessions would be sent in clear']
}

/** Returns the base URL of assets; null where it is not known. */
function assetBaseOf({ ASSET_BASE_URL, PUBLIC_URL, HOST, PORT }: Read): string | null {
  if (ASSET_BASE_URL === '') return null
  const host = HOST.includes(':') ? `[${HOST}]` : HOST
  return ASSET_BASE_URL ?? PUBLIC_URL ?? `http://${host}:${PORT}`
}

/**
 * Lists the faults of the settings for the role `storefront`, which knows no secret of the platform except its token.
 */
function storefrontFaults(read: Read) {
  const { NODE_ENV, STOREFRONT_API_URL: api, STOREFRONT_TOKEN: token } = read
  if (api === undefined) return ['STOREFRONT_API_URL must be set']
  const isOpen = token === undefined && NODE_ENV === 'production'
  return [
    ...(isOpen ? ['STOREFRONT_TOKEN must be set in production'] : []),
    ...publicUrlFaults(read),
  ]
}

/** Lists the faults of the settings of gateways. */
const gatewayFaults = (read: Read): string[] =>
  ADAPTERS.flatMap((adapter) =>
    adapter.settingFaults(read, {
      production: read.NODE_ENV === 'production',
      isDefault: read.PAYMENT_GATEWAY === adapter.name,
    }),
  )

/** Returns the key with which mails are signed; null where they are not signed. */
function dkimOf({ MAIL_DKIM_DOMAIN, MAIL_DKIM_SELECTOR, MAIL_DKIM_KEY }: Read) {
  if (!MAIL_DKIM_DOMAIN || !MAIL_DKIM_SELECTOR || !MAIL_DKIM_KEY) return null
  return {
    domainName: MAIL_DKIM_DOMAIN,
    keySelector: MAIL_DKIM_SELECTOR,
    privateKey: MAIL_DKIM_KEY,
  }
}

/** Lists the faults of the DKIM settings. A signature is worthless unless its domain is that of the sender (DMARC). */
function dkimFaults(read: Read): string[] {
  const { MAIL_DKIM_DOMAIN: domain, MAIL_DKIM_SELECTOR, MAIL_DKIM_KEY, MAIL_FROM } = read
  if (domain === undefined && MAIL_DKIM_SELECTOR === undefined && MAIL_DKIM_KEY === undefined) {
    return []
  }
  if (dkimOf(read) === null) {
    return ['MAIL_DKIM_DOMAIN, MAIL_DKIM_SELECTOR and MAIL_DKIM_KEY must be set together']
  }
  const sender = /@([^\s<>@]+?)>?\s*$/.exec(MAIL_FROM)?.[1]?.toLowerCase() ?? ''
  const signed = domain?.toLowerCase() ?? ''
  return sender === signed || sender.endsWith(`.${signed}`)
    ? []
    : ['MAIL_DKIM_DOMAIN must be the domain of MAIL_FROM, or one above it']
}

/** Checks the rules over several settings: those that production refuses, and those that only work together. */
function crossFaults(read: Read): string[] {
  const faults = publicUrlFaults(read)
  if (read.NODE_ENV === 'production') {
    for (const name of ['OPERATOR_TOKEN', 'STOREFRONT_TOKEN', 'SECRET_KEY'] as const) {
      if (read[name] === undefined) faults.push(`${name} must be set in production`)
    }
    if (read.PAYMENT_GATEWAY === undefined) {
      faults.push('PAYMENT_GATEWAY must be set in production: simulated approves every card')
    }
    if (read.WEBHOOK_TEST_TARGETS.length > 0) {
      faults.push('WEBHOOK_TEST_TARGETS must be empty in production')
    }
  }
  faults.push(...dkimFaults(read))
  const given = [read.OPERATOR_TOKEN, read.STOREFRONT_TOKEN, read.SECRET_KEY].filter(Boolean)
  if (new Set(given).size < given.length) {
    faults.push('OPERATOR_TOKEN, STOREFRONT_TOKEN and SECRET_KEY must be three different secrets')
  }
  faults.push(...gatewayFaults(read))
  const isNamed = read.IDENTITY_ISSUER !== undefined && read.IDENTITY_AUDIENCE !== undefined
  if (read.IDENTITY_JWKS_URL !== undefined && !isNamed) {
    faults.push('IDENTITY_ISSUER and IDENTITY_AUDIENCE must be set with IDENTITY_JWKS_URL')
  }
  return faults
}

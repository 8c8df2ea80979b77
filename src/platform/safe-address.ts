import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

export type FailureKind = 'refused_destination' | 'dns' | 'connect' | 'tls' | 'timeout' | 'protocol'

/**
 * The messages of failures. A merchant may read them: an address, a port or a library's own text would reveal our
 * network.
 */
const MESSAGES: Record<FailureKind, string> = {
  refused_destination: 'The destination is not a public HTTPS address.',
  dns: 'The host name could not be resolved.',
  connect: 'The connection was refused or lost.',
  tls: 'No trusted TLS connection was possible. Check the certificate.',
  timeout: 'The endpoint did not answer in time.',
  protocol: 'The endpoint did not answer with valid HTTP.',
}

/** The only error of a call to an address that a store chose. `cause` is for the log alone. */
export class SafeFetchError extends Error {
  readonly kind: FailureKind

  constructor(kind: FailureKind, cause?: unknown) {
    super(MESSAGES[kind], { cause })
    this.name = 'SafeFetchError'
    this.kind = kind
  }
}

/** Why a URL was refused. It is only for the log: with it, a caller could explore our network. */
export type RefusalReason =
  | 'malformed'
  | 'spelling'
  | 'scheme'
  | 'credentials'
  | 'fragment'
  | 'port'
  | 'host'
  | 'address'

export class UnsafeUrlError extends SafeFetchError {
  readonly reason: RefusalReason

  constructor(reason: RefusalReason) {
    super('refused_destination')
    this.name = 'UnsafeUrlError'
    this.reason = reason
  }
}

/** The part of IPv6 that is assigned to the public; all other addresses are reserved or private. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

/** Azure's host agent: it serves machines inside that cloud, at an address that looks public. */
const HOST_AGENT = '168.63.129.16'

/**
 * Whether an address belongs to the public internet. `ownAddresses` are public ones that lead back to this
 * installation.
 *
 * An IPv6 address that wraps an IPv4 one (mapped, 6to4, NAT64, Teredo) is refused whatever it wraps: a network that
 * we do not know decides where the address leads.
 */
export function isPublicAddress(address: string, ownAddresses: readonly string[] = []): boolean {
  // `ipaddr.parse` alone would also accept `192.168.1`; a zone names one of our own interfaces.
  if (isIP(address) === 0 || address.includes('%')) return false
  const parsed = ipaddr.parse(address)
  if (parsed.range() !== 'unicast') return false
  if (parsed.kind() === 'ipv6' && !parsed.match(GLOBAL_UNICAST)) return false
  return ![HOST_AGENT, ...ownAddresses].some((own) => isSameAddress(own, address))
}

export function isSameAddress(one: string, other: string): boolean {
  return ipaddr.parse(one).toString() === ipaddr.parse(other).toString()
}

/** Ports of services that obey every client, or that read HTTP as commands. */
const REFUSED_PORTS: ReadonlyMap<number, string> = new Map([
  [1433, 'SQL Server'],
  [1434, 'SQL Server browser'],
  [1521, 'Oracle'],
  [1883, 'MQTT'],
  [2049, 'NFS'],
  [2181, 'ZooKeeper'],
  [2375, 'Docker'],
  [2376, 'Docker'],
  [2379, 'etcd'],
  [2380, 'etcd'],
  [3306, 'MySQL'],
  [3389, 'Remote Desktop'],
  [4222, 'NATS'],
  [4369, 'Erlang port mapper'],
  [5060, 'SIP'],
  [5061, 'SIP'],
  [5432, 'PostgreSQL'],
  [5433, 'PostgreSQL, second server'],
  [5671, 'AMQP'],
  [5672, 'AMQP'],
  [5900, 'VNC'],
  [5984, 'CouchDB'],
  [5985, 'Windows Remote Management'],
  [5986, 'Windows Remote Management'],
  [6000, 'X11'],
  [6379, 'Redis'],
  [6380, 'Redis over TLS'],
  [6432, 'PgBouncer'],
  [6443, 'Kubernetes'],
  [6667, 'IRC'],
  [6697, 'IRC'],
  [7000, 'Cassandra between nodes'],
  [7001, 'Cassandra between nodes'],
  [7474, 'Neo4j'],
  [7687, 'Neo4j'],
  [8086, 'InfluxDB'],
  [8123, 'ClickHouse'],
  [8200, 'Vault'],
  [8500, 'Consul'],
  [9042, 'Cassandra'],
  [9092, 'Kafka'],
  [9200, 'Elasticsearch'],
  [9300, 'Elasticsearch between nodes'],
  [10250, 'kubelet'],
  [10255, 'kubelet'],
  [11211, 'memcached'],
  [15672, 'RabbitMQ management'],
  [26257, 'CockroachDB'],
  [26379, 'Redis Sentinel'],
  [27017, 'MongoDB'],
  [27018, 'MongoDB'],
  [27019, 'MongoDB'],
  [28017, 'MongoDB status'],
  [50000, 'Db2'],
])

/**
 * Names that only a private network resolves, or no network at all. A lookup would reveal the name to the name
 * server. `svc`, `cluster`, `consul` and `docker` are names of services inside a cluster.
 */
const PRIVATE_SUFFIXES = [
  '.localhost',
  '.localdomain',
  '.local',
  '.internal',
  '.intranet',
  '.lan',
  '.home',
  '.corp',
  '.private',
  '.svc',
  '.cluster',
  '.consul',
  '.docker',
  '.arpa',
  '.invalid',
  '.onion',
]

/** A part of a name. A host with an underscore is not valid, but is used nevertheless. */
const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/

/** The longest URL that servers commonly accept. */
const MAX_URL_CHARACTERS = 2_048

/** The longest name DNS can carry. */
const MAX_HOST_CHARACTERS = 253

export interface UrlRules {
  /** `host:port` pairs for development, for which http and private addresses are allowed. */
  testTargets: readonly string[]
  ownAddresses?: readonly string[]
}

/** Parses a URL that a store chose, and throws `UnsafeUrlError` for a refused one. Makes no DNS lookup. */
export function checkUrl(raw: string, rules: UrlRules): URL {
  const url = raw.length > MAX_URL_CHARACTERS ? null : URL.parse(raw)
  if (url === null) throw new UnsafeUrlError('malformed')
  const exempt = isTestTarget(url, rules.testTargets)
  if (url.protocol !== 'https:' && !(exempt && url.protocol === 'http:')) {
    throw new UnsafeUrlError('scheme')
  }
  const authority = /^https?:\/\/([^/?#]+)/i.exec(raw)?.[1] ?? ''
  if (authority.includes('@') || url.username !== '' || url.password !== '') {
    throw new UnsafeUrlError('credentials')
  }
  if (raw.includes('#')) throw new UnsafeUrlError('fragment')
  if (!isPlainlyWritten(raw, authority, url)) throw new UnsafeUrlError('spelling')
  if (exempt) return url

  const port = url.port === '' ? 443 : Number(url.port)
  if (port !== 443 && (port < 1_024 || REFUSED_PORTS.has(port))) throw new UnsafeUrlError('port')
  const host = hostOf(url)
  if (isIP(host) !== 0) {
    if (!isPublicAddress(host, rules.ownAddresses)) throw new UnsafeUrlError('address')
  } else if (!isPublicName(host)) {
    throw new UnsafeUrlError('host')
  }
  return url
}

export function isTestTarget(url: URL, testTargets: readonly string[]): boolean {
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  return testTargets.some((target) => target.toLowerCase() === `${url.hostname}:${port}`)
}

/** Returns the URL's host as DNS and sockets need it: an IPv6 address without its brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '')
}

/**
 * Whether the host is written as the parser understood it. The parser drops tabs and line breaks,
 * reads a backslash as a slash, adds slashes, decodes `%31` and turns `0x7f.1` into `127.0.0.1`:
 * people and other programs would then read one host, and we would call another.
 */
function isPlainlyWritten(raw: string, authority: string, url: URL): boolean {
  if (/[\p{Cc}\p{Cf}\p{Z}\\]/u.test(raw) || authority.includes('%')) return false
  // An IPv6 address has many valid spellings. A name in another script is parsed to punycode, and
  // must not become an address in foreign digits.
  if (authority.startsWith('[')) return true
  if (/\P{ASCII}/u.test(authority)) return isIP(url.hostname) === 0
  const written = authority.toLowerCase()
  const defaultPort = url.protocol === 'https:' ? 443 : 80
  return written === url.host || written === `${url.host}:${defaultPort}`
}

function isPublicName(host: string): boolean {
  const labels = host.split('.')
  if (host.length > MAX_HOST_CHARACTERS || labels.length < 2) return false
  // No top-level domain is a number. An empty label means a dot too many, at any place.
  if (!labels.every((label) => LABEL.test(label)) || !/[a-z]/.test(labels.at(-1) ?? ''))
    return false
  return !PRIVATE_SUFFIXES.some((suffix) => host.endsWith(suffix))
}

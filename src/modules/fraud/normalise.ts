import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { withoutPort } from '../../kernel/address.ts'
import { emailDomain, foldEmail } from '../../kernel/email.ts'
import { canonicalHostname } from '../../kernel/hostname.ts'
import { sha256 } from '../../kernel/tokens.ts'
import { foldAddress, foldedForms, writtenOut } from './address.ts'
import type { BanKind, Facts } from './schema.ts'

/** One spelling for each value that can be banned, so that equality finds it. Null: it is none. */

/** IPv4 in IPv6 is IPv4. A zone belongs to one machine's interface and means nothing here. */
export function canonicalIp(text: string): string | null {
  if (isIP(text) === 0 || text.includes('%')) return null
  const address = ipaddr.process(text)
  return address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address.toString()
}

/** Whole parts of the internet are no fraudster, but a slip of the pen. */
const PREFIX_MIN = { ipv4: 8, ipv6: 16 }

/** Bits before an IPv4 address that is written as IPv6. */
const MAPPED_BITS = 96

export function canonicalCidr(text: string): string | null {
  const [host = '', bits = '', more] = text.split('/')
  if (more !== undefined || !/^\d{1,3}$/.test(bits) || canonicalIp(host) === null) return null
  const written = ipaddr.parse(host)
  const mapped = written instanceof ipaddr.IPv6 && written.isIPv4MappedAddress()
  const address = ipaddr.process(host)
  const prefix = Number(bits) - (mapped ? MAPPED_BITS : 0)
  const max = address.kind() === 'ipv4' ? 32 : 128
  if (prefix < PREFIX_MIN[address.kind()] || prefix > max) return null
  return networkOf(address, prefix)
}

function networkOf(address: ipaddr.IPv4 | ipaddr.IPv6, prefix: number): string {
  const bytes = address.toByteArray().map((byte, i) => {
    const kept = Math.min(8, Math.max(0, prefix - i * 8))
    return byte & (0xff << (8 - kept)) & 0xff
  })
  const network = ipaddr.fromByteArray(bytes)
  const host = network instanceof ipaddr.IPv6 ? network.toRFC5952String() : network.toString()
  return `${host}/${prefix}`
}

/** Kept as a digest: whoever reads the table or a list learns no fingerprint from it. */
const digestOf = (fingerprint: string) => sha256(fingerprint).toString('hex')

const normalisers: Record<BanKind, (text: string) => string | null> = {
  email: foldEmail,
  email_domain: (text) => canonicalHostname(text.trim().replace(/^@/, '')),
  ip: (text) => canonicalIp(withoutPort(text.trim())),
  cidr: (text) => canonicalCidr(text.trim()),
  customer_ref: (text) => (/^\P{Cc}{1,200}$/u.test(text) ? text : null),
  card_fingerprint: (text) => (/^[\x21-\x7e]{16,200}$/.test(text) ? digestOf(text) : null),
  card_bin: (text) => (/^\d{6,8}$/.test(text) ? text : null),
  address: foldAddress,
}

/** As long as a value may be that is kept. Some signs stand for many letters, once made alike. */
const VALUE_LENGTH_MAX = 500

export function normalise(kind: BanKind, text: string): string | null {
  const value = normalisers[kind](text)
  return value !== null && value.length <= VALUE_LENGTH_MAX ? value : null
}

export interface BannedValue {
  kind: BanKind
  value: string
}

/**
 * Every value a ban of these facts can have: each fact itself, the domains above an address's own,
 * the networks around an IP address, each length of a card's first digits. Then equality finds all.
 */
export function listValues(facts: Facts): BannedValue[] {
  const { customer_ref, card_fingerprint, address } = facts
  const email = foldEmail(facts.email ?? '')
  const ip = normalise('ip', facts.ip ?? '')
  const values: [BanKind, string | null][] = [
    ['customer_ref', normalise('customer_ref', customer_ref)],
    ['card_fingerprint', normalise('card_fingerprint', card_fingerprint ?? '')],
    ['address', address ? normalise('address', writtenOut(address)) : null],
    ['email', email],
    ['ip', ip],
    ...(email === null ? [] : domainsOf(emailDomain(email)).map(of('email_domain'))),
    ...(ip === null ? [] : networksOf(ip).map(of('cidr'))),
    ...binsOf(facts.card_bin ?? '').map(of('card_bin')),
  ]
  return values.flatMap(([kind, value]) => (value === null ? [] : [{ kind, value }]))
}

/** The same as a merchant may have typed it: an address has many forms, and the facts but one. */
export const listForms = ({ address }: Facts): BannedValue[] =>
  address ? foldedForms(address).map((value) => ({ kind: 'address', value })) : []

const of =
  (kind: BanKind) =>
  (value: string): [BanKind, string] => [kind, value]

/** shop.mail.example, mail.example: a ban covers what lies below it. */
function domainsOf(domain: string): string[] {
  const labels = domain.split('.')
  return labels.slice(0, -1).map((_, i) => labels.slice(i).join('.'))
}

function networksOf(ip: string): string[] {
  const address = ipaddr.parse(ip)
  const min = PREFIX_MIN[address.kind()]
  const max = address.toByteArray().length * 8
  return Array.from({ length: max - min + 1 }, (_, i) => networkOf(address, min + i))
}

const binsOf = (bin: string) =>
  /^\d{6,19}$/.test(bin) ? [6, 7, 8].filter((n) => n <= bin.length).map((n) => bin.slice(0, n)) : []

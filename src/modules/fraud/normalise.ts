import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { withoutPort } from '../../kernel/address.ts'
import { emailDomain, foldEmail } from '../../kernel/email.ts'
import { canonicalHostname } from '../../kernel/hostname.ts'
import { sha256 } from '../../kernel/tokens.ts'
import { addressText, foldAddress, foldedSpellings } from './address.ts'
import type { BanKind, Facts } from './schema.ts'

/** Gives each value that can be banned one spelling, so that equality finds it. Null: it is invalid. */

/** An IPv4 address written as IPv6 becomes IPv4. An address with a zone is refused. */
export function canonicalIp(text: string): string | null {
  if (isIP(text) === 0 || text.includes('%')) return null
  const address = ipaddr.process(text)
  return address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address.toString()
}

/** The widest networks that can be banned. A wider one is a typing error. */
const PREFIX_MIN = { ipv4: 8, ipv6: 16 }

/** The bits before an IPv4 address that is written as IPv6. */
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
    const bits = Math.min(8, Math.max(0, prefix - i * 8))
    return byte & (0xff << (8 - bits)) & 0xff
  })
  const network = ipaddr.fromByteArray(bytes)
  const host = network instanceof ipaddr.IPv6 ? network.toRFC5952String() : network.toString()
  return `${host}/${prefix}`
}

/** A fingerprint is stored as a digest, so that no reader of the table or a list learns it. */
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

/** The longest normalised value. Normalising can turn one character into many. */
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
 * Lists every value that a ban of these facts can have: each fact itself, the parent domains of an e-mail
 * address, the networks of an IP address, each length of a card's first digits. So equality finds all.
 */
export function listValues(facts: Facts): BannedValue[] {
  const { customer_ref, card_fingerprint, address } = facts
  const email = foldEmail(facts.email ?? '')
  const ip = normalise('ip', facts.ip ?? '')
  const values: [BanKind, string | null][] = [
    ['customer_ref', normalise('customer_ref', customer_ref)],
    ['card_fingerprint', normalise('card_fingerprint', card_fingerprint ?? '')],
    ['address', address ? normalise('address', addressText(address)) : null],
    ['email', email],
    ['ip', ip],
    ...(email === null ? [] : domainsOf(emailDomain(email)).map(ofKind('email_domain'))),
    ...(ip === null ? [] : networksOf(ip).map(ofKind('cidr'))),
    ...binsOf(facts.card_bin ?? '').map(ofKind('card_bin')),
  ]
  return values.flatMap(([kind, value]) => (value === null ? [] : [{ kind, value }]))
}

/** Lists the spellings of the address in which a merchant may have typed a ban. */
export const listSpellings = ({ address }: Facts): BannedValue[] =>
  address ? foldedSpellings(address).map((value) => ({ kind: 'address', value })) : []

const ofKind =
  (kind: BanKind) =>
  (value: string): [BanKind, string] => [kind, value]

/**
 * Lists a domain and its parents, such as shop.mail.example and mail.example: a ban of a domain covers its
 * subdomains.
 */
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

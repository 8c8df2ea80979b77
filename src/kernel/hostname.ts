import { domainToASCII, domainToUnicode } from 'node:url'

/** Longer than any spelling of a name that DNS can carry; a longer text is not even parsed. */
const TEXT_LENGTH_MAX = 1_000

/** The longest name DNS can carry, without its trailing dot. */
export const HOSTNAME_LENGTH_MAX = 253

const LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/

/**
 * Characters that the URL parser would cut off, decode or drop silently: `a.com/x`, `a%2ecom`, a
 * tab. A name must be written as a name.
 */
const INVALID_CHARACTERS = /[\s\p{Cc}/?#\\@%[\]:]/u

/**
 * A name of plain letters that is not an address: the steps below would neither change nor refuse it. Most names are of
 * this kind.
 */
const PLAIN = /^(?:(?!-|xn--)[a-z0-9-]{1,63}(?<!-)\.)+[a-z]{2,63}$/

/**
 * Returns the canonical form of a host name: lower case, punycode, without port and trailing dot. Returns null when
 * the text is not a full DNS name: an address in any notation, a single label, a wildcard.
 *
 * Claiming a name and looking one up must both use this form, or `Shop.example.` would be another store than
 * `shop.example`.
 */
export function canonicalHostname(text: string): string | null {
  if (text.length > TEXT_LENGTH_MAX) return null
  if (text.length <= HOSTNAME_LENGTH_MAX && PLAIN.test(text)) return text
  const written = text.replace(/:\d{0,5}$/, '')
  if (INVALID_CHARACTERS.test(written)) return null
  // Other scripts have their own full stops, so the trailing dot is removed after the conversion.
  const host = domainToASCII(written).replace(/\.$/, '')
  if (host.length > HOSTNAME_LENGTH_MAX) return null
  const labels = host.split('.')
  if (labels.length < 2 || !labels.every((label) => LABEL.test(label))) return null
  // Every notation of an IPv4 address ends in a number, and no top-level domain is one.
  if (!/[a-z]/.test(labels.at(-1) ?? '')) return null
  return domainToUnicode(host).split('.').some(isUndecoded) ? null : host
}

/** Whether a label is punycode that could not be decoded. No browser would open such a name. */
const isUndecoded = (label: string) => label.startsWith('xn--')

/** Whether a name is the zone itself or below it. Both must be canonical. */
export const isWithin = (host: string, zone: string): boolean =>
  host === zone || host.endsWith(`.${zone}`)

/** The subject under which changes of a host are announced. No store has such a name. */
export const hostSubject = (hostname: string) => `host:${hostname}`

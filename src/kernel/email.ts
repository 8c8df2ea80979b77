import { canonicalHostname } from './hostname.ts'

/** Longer than any address that mail can be sent to; a longer text is not even parsed. */
const TEXT_LENGTH_MAX = 320

/**
 * Returns the canonical form of an e-mail address for comparing: compatibility characters folded, lower case, the
 * domain in punycode. The part after a plus stays, since some mail providers do not ignore it. Returns null when the
 * text is not an address. Never send mail to this form.
 */
export function foldEmail(text: string): string | null {
  if (text.length > TEXT_LENGTH_MAX) return null
  const folded = text.trim().normalize('NFKC').toLowerCase()
  const at = folded.lastIndexOf('@')
  const local = folded.slice(0, at)
  if (at < 1 || /[\s\p{Cc}]/u.test(local)) return null
  const domain = canonicalHostname(folded.slice(at + 1))
  return domain === null ? null : `${local}@${domain}`
}

/** Returns the domain of a folded address. */
export const emailDomain = (folded: string): string => folded.slice(folded.lastIndexOf('@') + 1)

/** Returns a `mailto:` link; null for a text that is no e-mail address. */
export const mailTo = (address: string | null): string | null =>
  address !== null && /^[^\s@:/\\?&#]{1,64}@[^\s@:/\\?&#]{1,200}$/.test(address)
    ? `mailto:${address}`
    : null

/**
 * Returns a link of a manifest if it leads to a page of the store, to the web, to mail or to a
 * telephone; null for any other link, above all for scripts.
 */
export function safeHref(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > 2_000) return null
  // Browsers ignore tabs and line ends in an address: with one in it, a path could name another
  // host.
  const text = value.replace(/\p{Cc}/gu, '').trim()
  if (/^\/(?![/\\])/.test(text) || /^#[\w-]*$/.test(text)) return text
  if (!URL.canParse(text)) return null
  return ['https:', 'http:', 'mailto:', 'tel:'].includes(new URL(text).protocol) ? text : null
}

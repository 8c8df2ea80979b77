/** Null for what is no address of anybody. */
export const mailTo = (address: string | null): string | null =>
  address !== null && /^[^\s@:/\\?&#]{1,64}@[^\s@:/\\?&#]{1,200}$/.test(address)
    ? `mailto:${address}`
    : null

/**
 * Where a manifest's link may lead: within the store, to the web, to mail or to a telephone. Anything
 * else, scripts above all, leads nowhere.
 */
export function safeHref(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > 2_000) return null
  // Browsers leave tabs and line ends out of an address: behind one, a path may name another host.
  const text = value.replace(/\p{Cc}/gu, '').trim()
  if (/^\/(?![/\\])/.test(text) || /^#[\w-]*$/.test(text)) return text
  if (!URL.canParse(text)) return null
  return ['https:', 'http:', 'mailto:', 'tel:'].includes(new URL(text).protocol) ? text : null
}

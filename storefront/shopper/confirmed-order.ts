import type { Cookies } from '../http/cookies.ts'
import type { Site } from '../site/site.ts'

/**
 * The address that was entered with the last order. A browser that opens the order does not get it from there, so this
 * browser keeps it for a day, encrypted.
 */

const COOKIE = 'confirmed'
const DAYS = 1

interface Keeper {
  cookies: Cookies
  site: Pick<Site, 'tenant'>
}

/** The cookie with the address that was entered with an order. */
export function confirmationCookies(
  { cookies, site }: Keeper,
  { id, email }: { id: string; email: string },
): string[] {
  const cookie = cookies.writeEncrypted(COOKIE, site.tenant, [id, email], DAYS)
  return cookie === null ? [] : [cookie]
}

/** The order that this browser has placed last, with the address that was entered for it. */
export interface Confirmed {
  id: string
  email: string
}

export function readConfirmed(
  cookies: Cookies,
  header: string | undefined,
  tenant: string,
): Confirmed | null {
  const packed = cookies.readEncrypted(header, COOKIE, tenant)
  if (!Array.isArray(packed)) return null
  const [id, email] = packed
  return { id: String(id), email: String(email) }
}

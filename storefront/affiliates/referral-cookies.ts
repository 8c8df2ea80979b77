import { randomBytes } from 'node:crypto'
import type { RequestContext } from '../request-context.ts'

/**
 * Stores which affiliate sent a shopper, in a cookie of the store. Only the server reads it, and it
 * expires with the store's attribution window. The last link that the shopper followed counts.
 */

const CODE = /^[A-Za-z0-9_-]{1,64}$/

/** Returns the cookies that a page with `?ref=` sets. A code that does not count leaves the cookie as it is. */
export async function referralCookies(context: RequestContext): Promise<string[]> {
  const { url, site, api, cookies, warn } = context
  const code = url.searchParams.get('ref')
  if (code === null || !CODE.test(code) || site.preview !== null) return []
  try {
    const touch = await api.touchReferral(site, code)
    if (touch === null) return []
    const packed = { c: touch.referral_code, t: touch.referral_touch }
    return [cookies.write('ref', site.tenant, packed, touch.window_days)]
  } catch (err) {
    // A page does not depend on the affiliate who has sent its reader.
    warn({ err, tenant: site.tenant }, 'a referral could not be counted')
    return []
  }
}

const DEVICE_DAYS = 400
const DEVICE_BYTES = 18

/**
 * Returns the name of this browser, and the cookie that stores it. Only browsers that apply as an affiliate or
 * open the page of one get a name, so that their own orders are known as such.
 */
export function ensureDevice({ device, cookies, site }: RequestContext) {
  const name = device ?? randomBytes(DEVICE_BYTES).toString('base64url')
  return { device: name, cookies: [cookies.write('partner', site.tenant, name, DEVICE_DAYS)] }
}

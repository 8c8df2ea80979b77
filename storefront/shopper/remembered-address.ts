import type { Cookies } from '../http/cookies.ts'
import type { Site } from '../site/site.ts'

/** The e-mail address and the postal address that a shopper has asked this browser to remember. */
export interface RememberedAddress {
  email: string
  name: string
  line1: string
  line2: string
  city: string
  state: string
  postal_code: string
  country: string
}

const FIELDS = [
  'email',
  'name',
  'line1',
  'line2',
  'city',
  'state',
  'postal_code',
  'country',
] as const

/** Reads what `addressCookies` has written. Any other value, also of another release, is null. */
export function unpackAddress(packed: unknown): RememberedAddress | null {
  if (!Array.isArray(packed) || packed.length !== FIELDS.length) return null
  const entries = FIELDS.map((field, at) => [field, String(packed[at])])
  return Object.fromEntries(entries) as unknown as RememberedAddress
}

/** The parts of a request that the cookies of the address need. */
interface AddressContext {
  cookies: Cookies
  site: Pick<Site, 'tenant' | 'hasAccounts'>
  remembered: RememberedAddress | null
}

const COOKIE = 'address'
const DAYS = 365

/** Remembers an address, or forgets the earlier one if the shopper no longer wants that. */
export function addressCookies(
  { cookies, site, remembered }: AddressContext,
  address: RememberedAddress & { remember: boolean },
): string[] {
  if (!site.hasAccounts || !address.remember)
    return remembered === null ? [] : [cookies.clear(COOKIE)]
  const packed = FIELDS.map((field) => address[field])
  const cookie = cookies.writeEncrypted(COOKIE, site.tenant, packed, DAYS)
  return cookie === null ? [] : [cookie]
}

export const forgetAddressCookie = ({ cookies }: Pick<AddressContext, 'cookies'>): string =>
  cookies.clear(COOKIE)

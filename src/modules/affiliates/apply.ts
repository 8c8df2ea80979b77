import type { Db, TenantDb } from '../../db/database.ts'
import { newId } from '../../kernel/id.ts'
import { DAY_MS } from '../../kernel/time.ts'
import * as tokens from '../../kernel/tokens.ts'
import { callerOf, type Limits, requireWithin } from '../../platform/rate-limits.ts'
import * as entitlements from '../entitlements/service.ts'
import * as stores from '../stores/service.ts'
import { refuse } from './errors.ts'
import { affiliateApplied } from './events.ts'
import * as queries from './queries.ts'
import type { Application, Touch } from './schema.ts'
import { emit, FEATURE, find, foldAddress, getSettings, hashDevice } from './service.ts'

/** The public part of affiliates, on the storefront: to apply, and to follow the link of an affiliate. */

export interface ApplyDeps {
  limits: Pick<Limits, 'velocity'>
  /** Signs when a link was followed. */
  touchKey: Buffer
}

/** Applications per minute of one shopper: enough for typing errors. */
const PER_SHOPPER = 5
/**
 * Applications per minute of a storefront's server that does not say whose request it sends: it has many
 * shoppers.
 */
const PER_SERVER = 60
/** Applications per minute of all shoppers of a store together. */
const PER_STORE = 60
/** Followed links of a store in a minute: a post that many people see at once. */
const TOUCHES_PER_STORE = 6_000
const SHARDS = 8

/** Reads the terms that the store offers to applicants. */
export async function readProgram(db: Db) {
  const [settings, { currency }, { state }] = await Promise.all([
    getSettings(db),
    stores.get(db),
    entitlements.findState(db, FEATURE),
  ])
  const { commission_type, rate_bps, amount_cents, cookie_days } = settings
  const applications_open = settings.applications_open && state === 'on'
  return { applications_open, commission_type, rate_bps, amount_cents, currency, cookie_days }
}

/**
 * Stores an application. The answer is the same for an address that the store knows already: strangers do not
 * learn who its affiliates are.
 */
export async function apply(
  deps: ApplyDeps,
  db: TenantDb,
  caller: string,
  request: Application,
): Promise<void> {
  const { name, email, website = null, message = null, address = null, ip } = request
  const [sender, limit] = ip ? [callerOf(ip), PER_SHOPPER] : [caller, PER_SERVER]
  await requireWithin(deps.limits, `affiliates:${db.tenant}:${sender}`, limit)
  await requireWithin(deps.limits, `affiliates:${db.tenant}`, PER_STORE)
  const email_folded = foldAddress(email)
  await db.transaction('affiliates: apply', async (tx) => {
    await entitlements.requireFeature(tx, FEATURE)
    const { applications_open, pays_renewals: _, ...terms } = await getSettings(tx)
    if (!applications_open) throw refuse('applications_closed')
    const id = newId()
    const inserted = await queries.insertAffiliate(tx, id, {
      ...terms,
      name,
      email,
      email_folded,
      website,
      message,
      address,
      customer_ref: null,
      person_id: null,
      payout_account: null,
      payout_account_end: null,
      status: 'applied',
    })
    if (inserted === null) return
    const device = hashDevice(request.device_ref)
    if (device !== null) await queries.seeDevice(tx, id, device)
    await emit(tx, affiliateApplied, await find(tx, id))
  })
}

type TouchPayload = [tenant: string, code: string, at: number]

/** Counts that a link was followed, and signs the time. An unknown or inactive code answers 404. */
export async function touch({ limits, touchKey }: ApplyDeps, db: TenantDb, code: string) {
  await requireWithin(limits, `affiliate-touches:${db.tenant}`, TOUCHES_PER_STORE)
  const isOn = entitlements.featureIsOn(db, FEATURE)
  const found = CODE.test(code) ? await queries.findLinkable(db, code, isOn) : null
  if (found === null) throw refuse('referral_code_not_found')
  await queries.countClick(db, found.code, Math.floor(Math.random() * SHARDS))
  const at = db.clock.now()
  const payload: TouchPayload = [db.tenant, found.code.toLowerCase(), at]
  const answer: Touch = {
    referral_code: found.code,
    referral_touch: tokens.sign(touchKey, Buffer.from(JSON.stringify(payload))),
    window_days: found.cookie_days,
    expires_at: new Date(at + found.cookie_days * DAY_MS).toISOString(),
  }
  return answer
}

const CODE = /^[A-Za-z0-9_-]{1,64}$/

const TOUCH_LENGTH_MAX = 1_000

/**
 * Reads when the link of a code was followed. Returns null if we have not signed such a time for this store and code.
 */
export function readTouch(
  key: Buffer,
  { tenant, code }: { tenant: string; code: string },
  token: unknown,
): string | null {
  if (typeof token !== 'string' || token.length > TOUCH_LENGTH_MAX) return null
  const payload = tokens.verify(key, token)
  if (payload === null) return null
  const [of, touched, at] = JSON.parse(payload.toString()) as TouchPayload
  return of === tenant && touched === code.toLowerCase() ? new Date(at).toISOString() : null
}

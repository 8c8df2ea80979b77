import { isViolationOf } from '../../db/constraints.ts'
import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError, invalidBody, requireRules } from '../../errors.ts'
import { foldEmail } from '../../kernel/email.ts'
import { newId } from '../../kernel/id.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import { encryptText, sha256 } from '../../kernel/tokens.ts'
import * as audit from '../../platform/audit.ts'
import * as entitlements from '../entitlements/service.ts'
import { listBalances } from './commission-queries.ts'
import { refuse } from './errors.ts'
import { affiliateActivated, type affiliateApplied } from './events.ts'
import * as queries from './queries.ts'
import type {
  Affiliate,
  AffiliatePatch,
  AffiliateRow,
  AffiliateStatus,
  Decision,
  NewAffiliate,
  Settings,
  SettingsPatch,
  Terms,
  TermsPatch,
} from './schema.ts'

/** Affiliates of a store: who they are, their codes, and the terms by which they earn. */

export const FEATURE = 'affiliates'

/** More codes than one person needs, and few enough to show with them. */
export const CODES_MAX = 50

export interface AffiliateKeys {
  /** Encrypts bank accounts. */
  account: Buffer
}

const DEFAULTS: Settings = {
  applications_open: false,
  pays_renewals: true,
  commission_type: 'percent',
  rate_bps: 1_000,
  amount_cents: null,
  cookie_days: 30,
  approval_delay_days: 30,
  payout_minimum_cents: 0,
}

export const getSettings = async (db: Db): Promise<Settings> =>
  (await queries.findSettings(db)) ?? DEFAULTS

/** Changes the settings of a store, and with them the terms of later affiliates. Existing ones keep theirs. */
export function changeSettings(db: TenantDb, actor: audit.Actor, patch: SettingsPatch) {
  return db.transaction('affiliates: change settings', async (tx) => {
    await entitlements.requireFeature(tx, FEATURE)
    await queries.lockSettings(tx)
    const before = await getSettings(tx)
    const { applications_open, pays_renewals } = before
    const after = await queries.writeSettings(tx, {
      applications_open: patch.applications_open ?? applications_open,
      pays_renewals: patch.pays_renewals ?? pays_renewals,
      ...checkTerms(before, patch),
    })
    const entity = `store:${tx.tenant}`
    await audit.record(tx, actor, { action: 'affiliates.settings_changed', entity, before, after })
    return after
  })
}

/** Returns the terms after a change. A change of the type drops the member of the old type. */
function checkTerms(before: Terms, patch: TermsPatch): Terms {
  const { commission_type = before.commission_type } = patch
  const isSame = commission_type === before.commission_type
  const rate_bps = patch.rate_bps ?? (isSame ? before.rate_bps : null)
  const amount_cents = patch.amount_cents ?? (isSame ? before.amount_cents : null)
  const needed = commission_type === 'percent' ? 'rate_bps' : 'amount_cents'
  const other = commission_type === 'percent' ? 'amount_cents' : 'rate_bps'
  const found = commission_type === 'percent' ? rate_bps : amount_cents
  requireRules([
    [patch[other] == null, other, `must not be sent for ${commission_type}`],
    [found !== null, needed, `must be sent for ${commission_type}`],
  ])
  return {
    commission_type,
    rate_bps: commission_type === 'percent' ? rate_bps : null,
    amount_cents: commission_type === 'fixed' ? amount_cents : null,
    cookie_days: patch.cookie_days ?? before.cookie_days,
    approval_delay_days: patch.approval_delay_days ?? before.approval_delay_days,
    payout_minimum_cents: patch.payout_minimum_cents ?? before.payout_minimum_cents,
  }
}

export async function list(
  db: Db,
  { status, email }: { status: AffiliateStatus | undefined; email: string | undefined },
  page: Page,
) {
  const email_folded = email === undefined ? undefined : (foldEmail(email) ?? '')
  const { rows, shown } = await queries.listAffiliates(db, { status, email_folded }, page)
  return { affiliates: rows, ...shown }
}

export async function find(db: Db, id: string): Promise<AffiliateRow> {
  const found = isUuid(id) ? await queries.findAffiliate(db, id) : null
  if (found === null) throw refuse('affiliate_not_found')
  return found
}

/** Reads an affiliate, with what they are owed and were paid. */
export async function get(db: Db, id: string) {
  const affiliate = await find(db, id)
  return { affiliate, balances: await listBalances(db, affiliate.id) }
}

/** Binds an encrypted account to its row: in another row it cannot be decrypted. */
export const accountContext = (tenant: string, id: string) => `affiliate account ${tenant}/${id}`

const ACCOUNT_END = 4

const accountOf = (key: Buffer, tenant: string, id: string, account: string | null) => ({
  payout_account:
    account === null ? null : encryptText(key, account.trim(), accountContext(tenant, id)),
  payout_account_end: account === null ? null : account.trim().slice(-ACCOUNT_END),
})

/** Folds an address to the spelling in which people are compared. */
export function foldAddress(email: string): string {
  const folded = foldEmail(email)
  if (folded === null) throw invalidBody('email', 'must be an e-mail address')
  return folded
}

/** Creates an affiliate by hand: `active` at once, or `invited` until they are activated. */
export function create(
  db: TenantDb,
  { actor, keys }: { actor: audit.Actor; keys: AffiliateKeys },
  request: NewAffiliate,
): Promise<Affiliate> {
  const { name, email, status = 'active', code, payout_account = null, ...rest } = request
  const email_folded = foldAddress(email)
  return db.transaction('affiliates: create', async (tx) => {
    await entitlements.requireFeature(tx, FEATURE)
    const id = newId()
    const terms = checkTerms(await getSettings(tx), rest)
    const inserted = await queries.insertAffiliate(tx, id, {
      ...terms,
      name,
      email,
      email_folded,
      status,
      message: null,
      customer_ref: rest.customer_ref ?? null,
      person_id: rest.person_id?.toLowerCase() ?? null,
      website: rest.website ?? null,
      address: rest.address ?? null,
      ...accountOf(keys.account, tx.tenant, id, payout_account),
    })
    if (inserted === null) throw refuse('affiliate_exists')
    if (code !== undefined) await insertCode(tx, id, code)
    await record(tx, actor, id, { action: 'affiliate.created', after: { status, ...terms } })
    return find(tx, id)
  })
}

/** Records a change in the audit log. Nothing that is recorded names the person: the log cannot be erased. */
const record = (
  tx: Tx,
  actor: audit.Actor,
  id: string,
  change: { action: string; after: Record<string, unknown> },
) => audit.record(tx, actor, { entity: `affiliate:${id}`, ...change })

export const emit = (
  tx: Tx,
  event: typeof affiliateApplied | typeof affiliateActivated,
  { id, status, referral_codes, commission_type, rate_bps, amount_cents }: Affiliate,
) =>
  event.emit(tx, {
    affiliate: {
      id,
      status,
      referral_codes: referral_codes.map(({ code }) => code),
      commission_type,
      rate_bps,
      amount_cents,
    },
  })

/** Locks an affiliate whose person is not erased. */
async function lock(tx: Tx, id: string): Promise<AffiliateRow & { email: string }> {
  const found = isUuid(id) ? await queries.lockAffiliate(tx, id) : null
  if (found === null) throw refuse('affiliate_not_found')
  const { email } = found
  if (email === null) throw invalidTransition(found, [])
  return { ...found, email }
}

const invalidTransition = ({ status }: Affiliate, allowed: readonly string[]) =>
  new ApiError('invalid_transition', { body: { current_status: status, allowed } })

const lowerCase = (id: string | null | undefined) => (id == null ? id : id.toLowerCase())

export function change(
  db: TenantDb,
  { actor, keys }: { actor: audit.Actor; keys: AffiliateKeys },
  id: string,
  patch: AffiliatePatch,
): Promise<Affiliate> {
  return db.transaction('affiliates: change', async (tx) => {
    await entitlements.requireFeature(tx, FEATURE)
    const before = await lock(tx, id)
    const { name = before.name, email = before.email, payout_account } = patch
    const kept = <T>(given: T | undefined, was: T): T => (given === undefined ? was : given)
    const terms = checkTerms(before, patch)
    const changed = {
      ...terms,
      name,
      email,
      email_folded: foldAddress(email),
      customer_ref: kept(patch.customer_ref, before.customer_ref),
      person_id: kept(lowerCase(patch.person_id), before.person_id),
      website: kept(patch.website, before.website),
      address: kept(patch.address, before.address),
      ...(payout_account !== undefined && {
        account: accountOf(keys.account, tx.tenant, before.id, payout_account),
      }),
    }
    await queries.updateAffiliate(tx, before.id, changed).catch((error) => {
      throw isViolationOf(error, 'affiliates_email') ? refuse('affiliate_exists') : error
    })
    const after = { ...terms, members: Object.keys(patch).toSorted() }
    await record(tx, actor, before.id, { action: 'affiliate.changed', after })
    return find(tx, before.id)
  })
}

/** The verbs that each status of an affiliate allows, and the status that results. */
const VERBS = {
  approve: { from: ['applied', 'invited'], to: 'active' },
  decline: { from: ['applied', 'invited'], to: 'declined' },
  suspend: { from: ['active'], to: 'suspended' },
  resume: { from: ['suspended'], to: 'active' },
} as const satisfies Record<string, { from: readonly AffiliateStatus[]; to: AffiliateStatus }>
export type Verb = keyof typeof VERBS

const allowedIn = (status: AffiliateStatus): string[] =>
  Object.entries(VERBS).flatMap(([verb, { from }]) =>
    (from as readonly AffiliateStatus[]).includes(status) ? [verb] : [],
  )

interface Decide {
  actor: audit.Actor
  /** Called with an affiliate who may sell now, in the same transaction. */
  onActive: (tx: Tx, affiliate: Affiliate) => Promise<unknown>
}

/**
 * Approves, declines, suspends or resumes an affiliate. Earned commissions stay theirs; a suspended affiliate earns
 * nothing new. A store needs no add-on to suspend.
 */
export function decide(
  db: TenantDb,
  { actor, onActive }: Decide,
  { id, verb }: { id: string; verb: Verb },
  { reason = null }: Decision,
): Promise<Affiliate> {
  return db.transaction(`affiliates: ${verb}`, async (tx) => {
    if (verb !== 'suspend') await entitlements.requireFeature(tx, FEATURE)
    const before = await lock(tx, id)
    const allowed = allowedIn(before.status)
    if (!allowed.includes(verb)) throw invalidTransition(before, allowed)
    const status = VERBS[verb].to
    await queries.setStatus(tx, before.id, { status, decline_reason: reason })
    const after = await find(tx, before.id)
    await audit.record(tx, actor, {
      action: `affiliate.${verb}`,
      entity: `affiliate:${before.id}`,
      before: { status: before.status },
      after: { status },
    })
    if (verb === 'approve') {
      await emit(tx, affiliateActivated, after)
      await onActive(tx, after)
    }
    return after
  })
}

export function addCode(
  db: TenantDb,
  actor: audit.Actor,
  id: string,
  code: string,
): Promise<Affiliate> {
  return db.transaction('affiliates: add a code', async (tx) => {
    await entitlements.requireFeature(tx, FEATURE)
    const { id: affiliate_id } = await lock(tx, id)
    const { count } = await queries.countCodes(tx, affiliate_id)
    if (count >= CODES_MAX)
      throw new ApiError('limit_reached', {
        body: { limit: 'codes_per_affiliate', max: CODES_MAX, used: count },
      })
    await insertCode(tx, affiliate_id, code)
    await record(tx, actor, affiliate_id, { action: 'affiliate.code_added', after: { code } })
    return find(tx, affiliate_id)
  })
}

async function insertCode(tx: Tx, affiliate_id: string, code: string): Promise<void> {
  if ((await queries.insertCode(tx, affiliate_id, code)) === null)
    throw refuse('referral_code_exists')
}

/** Ends a code, or makes it count again. A code never moves to another affiliate, because links with it are in use. */
export function switchCode(
  db: TenantDb,
  actor: audit.Actor,
  { id, code }: { id: string; code: string },
  active: boolean,
): Promise<Affiliate> {
  return db.transaction('affiliates: switch a code', async (tx) => {
    await entitlements.requireFeature(tx, FEATURE)
    const { id: affiliate_id } = await lock(tx, id)
    if ((await queries.setCodeActive(tx, affiliate_id, code, active)) === 0)
      throw refuse('referral_code_not_found')
    const action = active ? 'affiliate.code_resumed' : 'affiliate.code_ended'
    await record(tx, actor, affiliate_id, { action, after: { code } })
    return find(tx, affiliate_id)
  })
}

/** Hashes the id of a browser that an affiliate uses. Returns null for a text that no browser of ours sends. */
export const hashDevice = (device_ref: unknown): Buffer | null =>
  typeof device_ref === 'string' && DEVICE.test(device_ref) ? sha256(device_ref) : null

/** The id of a browser: random and long, since a short one would be the same in many browsers. */
const DEVICE = /^[\w-]{16,200}$/

/** The names of the affiliates of codes, by the code in lower case. */
export async function namesOf(db: Db, codes: readonly string[]): Promise<Map<string, string>> {
  const folded = [...new Set(codes.map((code) => code.toLowerCase()))]
  const found = folded.length === 0 ? [] : await queries.listNames(db, folded)
  return new Map(found.map(({ code_folded, name }) => [code_folded, name]))
}

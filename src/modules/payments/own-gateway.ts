import type { Db, TenantDb } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { HOUR_SECONDS } from '../../kernel/time.ts'
import * as audit from '../../platform/audit.ts'
import type { Limits } from '../../platform/rate-limits.ts'
import * as entitlements from '../entitlements/service.ts'
import * as stores from '../stores/service.ts'
import { refuse } from './errors.ts'
import * as queries from './queries.ts'
import type { OwnGatewayChange, PaymentSettings } from './schema.ts'
import { auditFacts, type Payments, setGateway, settings, settingsOf } from './service.ts'

/**
 * The gateway account that a merchant brings along, with the add-on. Its credential is tried at the provider before
 * it is kept, by a lookup, which moves no money.
 */

const FEATURE = 'dedicated_gateway'

/** How many credentials a store tries in an hour: this is no place to guess one, or to try a stolen list. */
const CHECKS_PER_HOUR = 10

export interface OwnGatewayDeps {
  payments: Payments
  limits: Pick<Limits, 'velocity'>
}

export const readOwn = (db: Db, { payments }: OwnGatewayDeps): Promise<PaymentSettings> =>
  settings(db, payments.deps)

export async function setOwn(
  db: TenantDb,
  actor: audit.Actor,
  { payments, limits }: OwnGatewayDeps,
  change: OwnGatewayChange,
): Promise<PaymentSettings> {
  await entitlements.requireFeature(db, FEATURE)
  if ((await stores.get(db)).sandbox) throw refuse('sandbox_store')
  if (!(await limits.velocity(`gateway-checks:${db.tenant}`, CHECKS_PER_HOUR, HOUR_SECONDS))) {
    throw new ApiError('rate_limited', { headers: { 'retry-after': `${HOUR_SECONDS}` } })
  }
  const found = await payments.checkCredentials(change.gateway, change.credentials)
  if (found === 'refused') throw refuse('gateway_refused')
  if (found === 'unreachable') {
    const headers = { 'retry-after': '10' }
    throw refuse('gateway_unavailable', { headers, kind: 'upstream' })
  }
  return setGateway(db, actor, payments.deps, change)
}

/**
 * Goes back to the gateway of the installation. At another gateway than that, the credential is kept: earlier
 * payments are looked up and refunded there. At the same one there is room for one account, so the merchant refunds
 * them at the provider; while a payment has no outcome, the account stays.
 */
export function dropOwn(
  db: TenantDb,
  actor: audit.Actor,
  { payments: { deps } }: OwnGatewayDeps,
): Promise<{ gateway: PaymentSettings; already_removed: boolean }> {
  return db.transaction('payments: drop own gateway', async (tx) => {
    await queries.lockAccounts(tx)
    const account = (await queries.listAccounts(tx)).find((each) => each.in_use) ?? null
    const before = settingsOf(account, deps)
    if (account === null || before.account !== 'store') {
      return { gateway: before, already_removed: true }
    }
    if (account.gateway === deps.gateway) {
      if ((await queries.findOpenAttempt(tx, account.gateway)) !== null) {
        throw refuse('gateway_busy', { headers: { 'retry-after': '60' } })
      }
      await queries.forgetCredentials(tx, account.gateway)
    } else await queries.retireAccounts(tx)
    const after = settingsOf(null, deps)
    await audit.record(tx, actor, {
      action: 'payments.gateway_removed',
      entity: 'payments',
      before: auditFacts(before),
      after: auditFacts(after),
    })
    return { gateway: after, already_removed: false }
  })
}

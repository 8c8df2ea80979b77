import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Comparison, compareAll, findPageFault } from '../../bench/scale/compare.ts'
import { measureClaims } from '../../bench/scale/drills/outbox.ts'
import { compareRecounts } from '../../bench/scale/drills/stock.ts'
import { changeSetting, type FilledApp, openFilledApp } from '../../bench/scale/filled-app.ts'
import { openClient, send } from '../../bench/scale/measure.ts'
import { CATALOG, ORDERS, REDUCED } from '../../bench/scale/size.ts'
import type { Proof } from '../../src/modules/ledger/schema.ts'
import { findOrphans } from '../harness/foreign-keys.ts'
import { assertListsAgree } from '../harness/list-oracles.ts'
import { assertOrdersAddUp } from '../harness/order-oracles.ts'

/** Lists without rows in the generated stores, each with the reason. */
const EMPTY: Readonly<Record<string, string>> = {
  '/v1/merchant/affiliates/{id}': 'its commissions were declined, so that nothing is owed',
  '/v1/merchant/analytics/customers': 'no customer is new this month; an earlier month has some',
  '/v1/merchant/inventory/discrepancies': 'every recount has agreed',
  '/v1/merchant/inventory/{variant_id}/costs': 'no purchase order was received',
  '/v1/merchant/purchasing/orders/{id}/receipts': 'no purchase order was received',
  '/v1/merchant/purchasing/suggestions': 'there is more stock than sells',
  '/v1/payments/unsettled': 'every gateway has answered',
  '/v1/stores/{tenant}/payments/unsettled': 'every gateway has answered',
}

const listFaults = (compared: readonly Comparison[]) =>
  compared.flatMap((each) => {
    const fault = findPageFault(each)
    return fault === null ? [] : [`${each.probe.route} ${each.probe.name}: ${fault}`]
  })

/** Page counts, which no busy machine changes. `npm run scale` adds the times. */
describe('a store of full size beside one of a hundredth', () => {
  let filled: FilledApp
  let dataDir: string
  const compared: Comparison[] = []

  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'scale-'))
    // Root starts the database as another user, who must be able to pass through this folder.
    await chmod(dataDir, 0o711)
    filled = await openFilledApp({ dataDir, size: REDUCED })
  })
  after(async () => {
    await filled.close()
    await rm(dataDir, { recursive: true, force: true, maxRetries: 20 })
  })

  test('the generated rows hold every oracle and every foreign key', async () => {
    await assertOrdersAddUp(filled.admin)
    await assertListsAgree(filled.admin)
    assert.deepEqual(await findOrphans(filled.admin), [])
  })

  test('the ledgers of the generated stores prove themselves to the end', async () => {
    const client = openClient(filled)
    for (const tenant of [ORDERS.full, ORDERS.hundredth, CATALOG.full]) {
      for (let from: number | null = 1; from !== null; ) {
        const path = `/v1/merchant/ledger/proof?from=${from}`
        const sent = await client.requestOf({ plane: 'merchant' }, path, tenant)
        const { status, body } = await send(sent)
        const { verified, balanced, next_from } = body as Proof
        assert.deepEqual([tenant, status, verified, balanced], [tenant, 200, true, true])
        from = next_from
      }
    }
  })

  test('every first page and filter reads at most five times the pages of a hundredth', async () => {
    for await (const each of compareAll(filled, { timed: false })) compared.push(each)
    assert.deepEqual(listFaults(compared), [])
  })

  test('lists keep to that bound with the plans that PostgreSQL keeps for all stores', async () => {
    await changeSetting(filled.admin, 'plan_cache_mode = force_generic_plan')
    const compared: Comparison[] = []
    for await (const each of compareAll(filled, { timed: false })) compared.push(each)
    await changeSetting(filled.admin, 'plan_cache_mode = auto')
    assert.deepEqual(listFaults(compared), [])
  })

  test('every list has rows to be measured by', () => {
    const unfilled = compared
      .filter(({ probe, full }) => probe.name === 'first page' && full.rows === 0)
      .map(({ probe }) => probe.route)
      .filter((route) => !(route in EMPTY))
    assert.deepEqual(unfilled, [])
  })

  test('a stock recount reads at most five times the pages of a hundredth', async () => {
    const { line, holds } = await compareRecounts(filled)
    assert.ok(holds, line)
  })

  test('a claim over all stores reads at most five times the pages of one in a single store', async () => {
    const { line, holds } = await measureClaims(filled)
    assert.ok(holds, line)
  })
})

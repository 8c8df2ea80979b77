import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, test } from 'node:test'
import type { TenantDb } from '../../../src/db/database.ts'
import { postAll } from '../../../src/modules/ledger/money.ts'
import * as ledger from '../../../src/modules/ledger/service.ts'
import * as queries from '../../../src/modules/ledger/verified-queries.ts'
import { verifyLedgers } from '../../../src/verify-ledger.ts'
import { openLedgers, sale, TAMPERING } from './setup.ts'

const { platform, key, openStore, sellMany, openVerifier, readRow, makeDue, tamper } =
  await openLedgers({ after })

describe('the summary for the doctor', () => {
  test('counts stores with a fault, stores without a record, and stores whose verification never comes', async () => {
    const operator = platform.database.open('fd_operator').allStores
    const summarize = () => queries.summarize(operator, 900, 7)
    const { step } = openVerifier()
    const [faulty, missing, postponed] = [await openStore(), await openStore(), await openStore()]
    for (const db of [faulty, missing, postponed]) await sellMany(db, 3)
    const before = await summarize()
    await tamper(faulty, TAMPERING['a changed amount']?.act ?? '')
    await tamper(missing, 'delete from ledger_verified where tenant_ref = $1')
    await step()
    await tamper(postponed, `update ledger_verified set due_at = 'infinity' where tenant_ref = $1`)
    assert.deepEqual(await summarize(), {
      stores: before.stores - 1,
      faulty: before.faulty + 1,
      missing: before.missing + 1,
      late: before.late,
      postponed: before.postponed + 1,
    })
  })
})

describe('the role verify-ledger', () => {
  const run = async (tenant: string | null, accept = false) => {
    const lines: string[] = []
    const databases = {
      operatorDatabase: platform.database.open('fd_operator'),
      workerDatabase: platform.worker,
      key: () => key,
    }
    const exitCode = await verifyLedgers(databases, { tenant, accept }, (line) => lines.push(line))
    return { exitCode, lines }
  }

  test('verifies from the first journal, whatever is recorded as verified', async () => {
    const { step } = openVerifier()
    const db = await openStore()
    await sellMany(db, 3)
    await step()
    assert.deepEqual(await run(db.tenant), {
      exitCode: 0,
      lines: [`ok    ${db.tenant}  3  verified\n`],
    })
    await tamper(db, TAMPERING['a changed amount']?.act ?? '')
    assert.deepEqual(await run(db.tenant, true), {
      exitCode: 1,
      lines: [`FAIL  ${db.tenant}  1  broken_link at 2\n`],
    })
    assert.ok((await run(null)).lines.length > 1)
    assert.deepEqual((await run(randomUUID())).lines, ['there is no ledger to verify\n'])
  })

  test('names the ledger whose sums are too large to count, and goes on with the others', async () => {
    const [before, large, after] = [await openStore(), await openStore(), await openStore()]
    await sellMany(before, 1)
    await large.transaction('sell', (tx) =>
      postAll(tx, [sale(Number.MAX_SAFE_INTEGER), sale(Number.MAX_SAFE_INTEGER)]),
    )
    await sellMany(after, 1)
    const { exitCode, lines } = await run(null)
    assert.equal(exitCode, 1)
    const lineOf = ({ tenant }: TenantDb) => lines.find((line) => line.includes(`  ${tenant}  `))
    assert.equal(lineOf(large), `FAIL  ${large.tenant}  1  out_of_range at 2\n`)
    for (const db of [before, after]) {
      assert.equal(lineOf(db), `ok    ${db.tenant}  1  verified\n`)
    }
    await assert.rejects(ledger.proof(large, { key }), RangeError, 'no rounded balance is answered')
    const { step, alerts } = openVerifier()
    await step()
    const { sequence, fault, fault_at } = await readRow(large)
    assert.deepEqual([sequence, fault, fault_at], [1, 'out_of_range', '2'])
    assert.ok(alerts.some(({ tenant_ref }) => tenant_ref === large.tenant))
  })

  test('replaces a false record only if the operator accepts that', async () => {
    const { step } = openVerifier()
    const db = await openStore()
    await sellMany(db, 3)
    await step()
    await tamper(db, 'update ledger_verified set mac = sha256(mac) where tenant_ref = $1')
    assert.deepEqual((await run(db.tenant)).lines, [`FAIL  ${db.tenant}  3  forged at 3\n`])
    await makeDue(db)
    await step()
    assert.equal((await readRow(db)).fault, 'forged')
    assert.equal((await run(db.tenant, true)).exitCode, 0)
    await step()
    assert.equal((await readRow(db)).fault, null)
    assert.equal((await ledger.proof(db, { key })).verified, true)
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Type } from 'typebox'
import { sql } from '../../src/db/sql.ts'
import { openTestDatabase } from '../harness/database.ts'

const Tenant = Type.Object({ tenant: Type.String() })

describe('the tenant handle', () => {
  test('sets the tenant for its statement alone', async (t) => {
    const db = (await openTestDatabase(t)).open('fd_app', 1)
    const seen = await db.tenant('acme').one(Tenant, sql`select fd_tenant() as tenant`)
    assert.deepEqual(seen, { tenant: 'acme' })
    await assert.rejects(db.global.many(Tenant, sql`select fd_tenant() as tenant`), {
      code: 'FD001',
    })
  })

  test('lets a light write commit without waiting for the disk, and that one alone', async (t) => {
    const database = await openTestDatabase(t)
    const admin = await database.openAdmin()
    await admin.query(`alter role fd_app in database ${admin.database} set synchronous_commit = on`)
    const db = database.open('fd_app', 1).tenant('acme')
    const Shown = Type.Object({ tenant: Type.String(), waits: Type.String() })
    const show = sql`select fd_tenant() as tenant, current_setting('synchronous_commit') as waits`
    assert.deepEqual(await db.lightly.one(Shown, show), { tenant: 'acme', waits: 'off' })
    assert.deepEqual(await db.one(Shown, show), { tenant: 'acme', waits: 'on' })
  })
})

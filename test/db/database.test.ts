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
})

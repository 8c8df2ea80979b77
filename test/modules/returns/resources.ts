import assert from 'node:assert/strict'
import { freshKey, LINE } from '../../contract/ids.ts'
import type { Caller, TestApp } from '../../harness/app.ts'
import type { Resources } from '../../harness/resources.ts'
import { shipOrder } from '../fulfillment/resources.ts'

/** Gives the line of a return the id that the bodies name, in place of an earlier return's. */
async function nameLine(app: TestApp, id: string) {
  const admin = await app.database.openAdmin()
  await admin.query(`set session_replication_role = replica`)
  for (const [table, column] of [
    ['return_receipt_lines', 'return_line_id'],
    ['return_resolutions', 'return_line_id'],
    ['return_lines', 'id'],
  ]) {
    await admin.query(`update ${table} set ${column} = gen_random_uuid() where ${column} = $1`, [
      LINE,
    ])
  }
  await admin.query('update return_lines set id = $1 where return_id = $2', [LINE, id])
  await admin.query(`set session_replication_role = default`)
  return { id }
}

export async function makeReturn(merchant: Caller, app: TestApp) {
  const body = { ...(await shipOrder(merchant, app)), note: 'a canary' }
  const made = await merchant.post('/v1/merchant/returns', body)
  assert.equal(made.status, 201, made.text)
  return nameLine(app, made.body.return.id as string)
}

async function requestReturn(merchant: Caller, app: TestApp) {
  const { order_id, lines } = await shipOrder(merchant, app)
  const url = `/v1/tenants/acme/orders/${order_id}/returns`
  const made = await app.storefront.post(url, { customer_ref: 'a canary', lines }, freshKey())
  assert.equal(made.status, 201, made.text)
  return { id: made.body.return.id as string }
}

const RECEIPT = {
  lines: [{ return_line_id: LINE, received_quantity: 1, disposition: 'restock' }],
  refund: { method: 'original' },
}

export const resources: Resources = {
  fixtures: {
    'GET /v1/merchant/returns/:id': makeReturn,
    'POST /v1/merchant/returns/:id/approve': requestReturn,
    'POST /v1/merchant/returns/:id/decline': requestReturn,
    'POST /v1/merchant/returns/:id/cancel': makeReturn,
    'POST /v1/merchant/returns/:id/close': makeReturn,
    'POST /v1/merchant/returns/:id/receive': makeReturn,
    'POST /v1/merchant/returns/:id/receive/preview': makeReturn,
    'POST /v1/merchant/returns/:id/resolve': async (merchant, app) => {
      const { id } = await makeReturn(merchant, app)
      const url = `/v1/merchant/returns/${id}/receive`
      const body = {
        lines: [{ return_line_id: LINE, received_quantity: 1, disposition: 'quarantine' }],
        refund: { method: 'none' },
      }
      const received = await merchant.post(url, body, freshKey())
      assert.equal(received.status, 200, received.text)
      return { id }
    },
  },
  bodies: {
    'POST /v1/merchant/returns/:id/approve': { instructions: 'a canary' },
    'POST /v1/merchant/returns/:id/decline': { reason: 'a canary' },
    'POST /v1/merchant/returns/:id/receive': RECEIPT,
    'POST /v1/merchant/returns/:id/receive/preview': RECEIPT,
    'POST /v1/merchant/returns/:id/resolve': {
      lines: [{ return_line_id: LINE, quantity: 1, disposition: 'damaged' }],
    },
  },
  rows: {
    returns: `
    with item as (select order_id, id from order_items where tenant_ref = $1 limit 1),
         back as (insert into returns (tenant_ref, order_id, number, return_number, status,
                         requested_by, approved_at, created_by)
                  select $1, order_id, 1, '1001-R1', 'approved', 'merchant', now(), 'x'
                    from item returning id, order_id),
         came as (insert into return_lines (tenant_ref, return_id, order_item_id, position,
                         variant_id, sku, product_name, quantity)
                  select $1, back.id, item.id, 0, item.id, 'x', 'x', 1 from back, item
                  returning id),
         receipt as (insert into return_receipts (tenant_ref, id, return_id, number, status,
                            method, location_id, created_by, settled_at)
                     select $1, id, id, 1, 'settled', 'none', 'default', 'x', now()
                       from back returning id),
         arrived as (insert into return_receipt_lines (tenant_ref, receipt_id, return_line_id,
                            disposition, quantity, stock_quantity)
                     select $1, receipt.id, came.id, 'missing', 1, 0 from receipt, came),
         resolved as (insert into return_resolutions (tenant_ref, return_line_id, disposition,
                             quantity, stock_quantity, created_by)
                      select $1, id, 'damaged', 1, 0, 'x' from came)
    insert into return_exchanges (tenant_ref, return_id, order_id, advance, status, amount_cents,
                                  pay_days, created_by)
    select $1, id, order_id, false, 'waiting', 1, 7, 'x' from back`,
  },
}

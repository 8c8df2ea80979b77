import type { Caller, TestApp } from '../../harness/app.ts'
import type { Resources } from '../../harness/resources.ts'
import { placeOrder } from '../orders/resources.ts'

/** A mail that was sent. */
async function sendMail(merchant: Caller, app: TestApp) {
  const { id: order_id } = await placeOrder(merchant, app)
  const admin = await app.database.openAdmin()
  const { rows } = await admin.query(
    `insert into shopper_mails (tenant_ref, kind, about_id, order_id, recipient, state,
                                next_attempt_at, sent_at)
     select tenant_ref, 'order_placed', id, id, 'a canary', 'sent', null, now()
       from orders where id = $1
     returning id`,
    [order_id],
  )
  return { id: rows[0].id as string }
}

export const resources: Resources = {
  fixtures: {
    'POST /v1/merchant/mails/:id/resend': sendMail,
    'GET /v1/merchant/mails/:id': sendMail,
  },
  rows: {
    shopper_mail_settings: `insert into shopper_mail_settings (tenant_ref) values ($1)`,
    shopper_mails: `insert into shopper_mails (tenant_ref, kind, about_id)
                  values ($1, 'order_placed', gen_random_uuid())`,
  },
}

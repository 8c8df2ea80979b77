import { Type } from 'typebox'
import type { AllStores, Tx } from '../../db/database.ts'
import { NEWEST_KEY, readList } from '../../db/list.ts'
import { sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Id } from '../../kernel/schema.ts'
import { ActivationRequest, StoreActivationRequest } from './activation-schema.ts'

const columns = sql`r.id, r.product_id, r.status, r.note, r.requested_by, r.created_at, r.decided_at,
                    r.decision_note`

/** Inserts a request. Returns null where the product has an open one already. */
export const insertRequest = (tx: Tx, productId: string, note: string | null, by: string) =>
  tx.maybe(
    ActivationRequest,
    sql`
    insert into activation_requests as r (tenant_ref, product_id, note, requested_by)
    values (${tx.tenant}, ${productId}, ${note}, ${by})
    on conflict (tenant_ref, product_id) where status = 'pending' do nothing
    returning ${columns}`,
  )

export const findOpenRequest = (tx: Tx, productId: string) =>
  tx.maybe(
    ActivationRequest,
    sql`
    select ${columns}
      from activation_requests r
     where r.tenant_ref = ${tx.tenant} and r.product_id = ${productId} and r.status = 'pending'`,
  )

interface Outcome {
  status: Exclude<ActivationRequest['status'], 'pending'>
  decision_note?: string | undefined
}

/** Closes the open request of a product. Returns null where it has none. */
export const closeOpenRequest = (tx: Tx, productId: string, { status, decision_note }: Outcome) =>
  tx.maybe(
    ActivationRequest,
    sql`
    update activation_requests r
       set status = ${status}, decided_at = fd_now(), decision_note = ${decision_note ?? null}
     where r.tenant_ref = ${tx.tenant} and r.product_id = ${productId} and r.status = 'pending'
    returning ${columns}`,
  )

/** Lists the requests of every store, newest first, with the operator's login. */
export const listAllRequests = (
  operator: AllStores,
  status: ActivationRequest['status'] | undefined,
  page: Page,
) =>
  readList(
    operator,
    {
      shape: StoreActivationRequest,
      table: sql`activation_requests`,
      as: sql`r`,
      scope: sql`true`,
      filters: status === undefined ? [] : [sql`r.status = ${status}`],
      key: NEWEST_KEY,
      descending: true,
      columns: sql`r.tenant_ref, p.name as product_name, ${columns}`,
      joins: sql`join products p on p.tenant_ref = r.tenant_ref and p.id = r.product_id`,
    },
    page,
  )

/** Finds the store and the product of a request, which an operator names by its id alone. */
export const findPlaceOfRequest = (operator: AllStores, id: string) =>
  operator.maybe(
    Type.Object({ tenant_ref: Type.String(), product_id: Id }),
    sql`select tenant_ref, product_id from activation_requests where id = ${id}`,
  )

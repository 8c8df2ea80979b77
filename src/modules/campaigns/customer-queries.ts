import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Id, Nullable, Timestamp } from '../../kernel/schema.ts'

interface Person {
  customer_ref: string
  /** Folded. */
  emails: readonly string[]
}

const ofPerson = (db: Db, { customer_ref, emails }: Person) => sql`
  tenant_ref = ${db.tenant}
  and (customer_ref = ${customer_ref} or email_folded = any(${emails}::text[]))`

/** Locks the mailings that a person is a recipient of: their counts change with them. */
export const lockMailingsOf = (tx: Tx, person: Person) =>
  tx.run(sql`
    select from campaign_mailings m
     where m.tenant_ref = ${tx.tenant}
       and m.id = any(array(select campaign_id from campaign_recipients where ${ofPerson(tx, person)}))
     order by m.id
       for update`)

/** Erases a person from the recipients of all campaigns. A mail that was not sent yet is skipped, and counted so. */
export const eraseRecipients = (tx: Tx, person: Person) =>
  tx.run(sql`
    with person as (
      select id, campaign_id, state = 'queued' as is_queued
        from campaign_recipients
       where ${ofPerson(tx, person)}
    ), erased as (
      update campaign_recipients r
         set email = null, email_folded = null, customer_ref = null, last_error = null,
             state = case when is_queued then 'skipped' else state end,
             reason = case when is_queued then 'erased' else reason end,
             next_attempt_at = null
        from person
       where r.tenant_ref = ${tx.tenant} and r.campaign_id = person.campaign_id
         and r.id = person.id
    )
    update campaign_mailings m
       set skipped_count = m.skipped_count + n.skipped
      from (select campaign_id, count(*) as skipped from person where is_queued group by 1) as n
     where m.tenant_ref = ${tx.tenant} and m.id = n.campaign_id`)

const CustomerMail = Type.Object({
  id: Id,
  campaign_id: Id,
  recipient: Nullable(Type.String()),
  state: Type.String(),
  created_at: Timestamp,
  sent_at: Nullable(Timestamp),
})

/** The mails of a customer after an id, in the order of the ids. */
export const listOf = (db: Db, customer_ref: string, after: string, limit: number) =>
  db.many(
    CustomerMail,
    sql`
    select id, campaign_id, email as recipient, state, created_at, sent_at
      from campaign_recipients
     where tenant_ref = ${db.tenant} and customer_ref = ${customer_ref} and id > ${after}
     order by id
     limit ${limit}`,
  )

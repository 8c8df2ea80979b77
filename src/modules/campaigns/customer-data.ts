import type { Db, Tx } from '../../db/database.ts'
import { foldEmail } from '../../kernel/email.ts'
import * as queries from './customer-queries.ts'

/** The mails of campaigns that a customer is a recipient of, for the privacy export and erasure. */

export const listMails = async (db: Db, customer_ref: string, after: string, limit: number) =>
  (await queries.listOf(db, customer_ref, after, limit)).map(({ id, ...data }) => ({
    id,
    data: { kind: 'campaign', ...data },
  }))

/** Erases a person from the recipients. Mails of a campaign that is being sent no longer reach them. */
export async function eraseCustomer(
  tx: Tx,
  { customer_ref, emails }: { customer_ref: string; emails: readonly string[] },
): Promise<void> {
  const folded = emails.map(foldEmail).filter((each) => each !== null)
  const person = { customer_ref, emails: [...new Set(folded)] }
  await queries.lockMailingsOf(tx, person)
  await queries.eraseRecipients(tx, person)
}

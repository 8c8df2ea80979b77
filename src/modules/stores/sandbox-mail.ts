import { foldEmail } from '../../kernel/email.ts'
import { mailboxOf } from '../../platform/address-mails.ts'
import type { Store } from './schema.ts'

/**
 * Who gets the mails of a sandbox: its owner alone, also at an address with a plus (`owner+test@…`). Shoppers of a
 * sandbox are made up, and their addresses may be those of strangers.
 */

type Mailing = Pick<Store, 'sandbox' | 'owner_email'>

/** Whether a mail to the address is kept and not sent. */
export function isKeptFromMail({ sandbox, owner_email }: Mailing, address: string): boolean {
  return sandbox && (owner_email === null || mailbox(owner_email) !== mailbox(address))
}

const mailbox = (address: string): string => mailboxOf(foldEmail(address) ?? address)

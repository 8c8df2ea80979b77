import { oneLine } from '../../platform/mail.ts'
import { createFormats } from '../documents/formats.ts'
import type { InvoiceRow } from './schema.ts'

/** The mails to the owner of a store about invoices. The operator writes the first lines of reminders. */

interface InvoiceMail {
  subject: string
  text: string
}

const formats = createFormats('en', 'UTC')

const factsOf = ({ number, period, currency, balance_cents, due_at }: InvoiceRow): string =>
  [
    `Invoice:  ${number}`,
    `Month:    ${period}`,
    `Open:     ${formats.money(balance_cents, currency)}`,
    `Due on:   ${due_at === null ? '' : formats.date(due_at)}`,
  ].join('\n')

export const invoiceMail = (invoice: InvoiceRow): InvoiceMail => ({
  subject: `Your invoice ${invoice.number} for ${invoice.period}`,
  text: `There is a new invoice for your store.

${factsOf(invoice)}

The API answers it as a PDF: GET ${invoice.pdf_url}
`,
})

export const reminderMail = (invoice: InvoiceRow, text: string): InvoiceMail => ({
  subject: `Reminder: invoice ${invoice.number} is not paid`,
  text: `${text}

${factsOf(invoice)}

The API answers it as a PDF: GET ${invoice.pdf_url}
`,
})

/** Writes a mail about billing. Each names the store at its end. */
export const billingMail = ({ subject, text }: InvoiceMail, store: string): InvoiceMail => ({
  subject,
  text: `${text}
Store: ${oneLine(store)}
`,
})

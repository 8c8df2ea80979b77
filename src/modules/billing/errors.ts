import type { CodesOf, ErrorTable } from '../../error-codes.ts'
import { defineErrors } from '../../errors.ts'

export const ERRORS = {
  invoice_not_found: [404, 'No such invoice. Check its id.'],
  credit_note_not_found: [404, 'No such credit note. Check its id.'],
  plan_not_found: [404, 'No such plan, or it is not offered. Check its key and version.'],
  issuer_missing: [
    409,
    'The issuer of invoices is not set yet. Set it first: PUT /v1/billing/issuer.',
  ],
  sandbox_not_billed: [409, 'A sandbox store is never billed. Name another store.'],
  plan_changed: [409, 'Another version of the plan was added at the same time. Try again.'],
  plan_currency: [
    409,
    'The plan is in another currency than the store is billed in: see `currency`. Use another plan.',
  ],
  invoice_not_issued: [409, 'The invoice is a draft. Wait until it is issued.'],
  invoice_full: [
    409,
    'The invoice of this month has the maximum number of charges. Add the charge next month.',
  ],
  amount_exceeds_balance: [
    422,
    'The amount exceeds what is owed: see `balance_cents`. Record at most that.',
  ],
  amount_exceeds_invoice: [
    422,
    'The amount exceeds what is left to credit: see `creditable_cents`. Credit at most that.',
  ],
} as const satisfies ErrorTable

declare module '../../error-codes.ts' {
  interface OwnCodes extends CodesOf<typeof ERRORS> {}
}

export const refuse = defineErrors(ERRORS)

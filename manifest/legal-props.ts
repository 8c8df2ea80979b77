import { email, line, text } from './prop.ts'

/** Who sells: the member `legal` of a manifest, which invoices and packing slips print. */
export const LEGAL_PROPS = {
  name: line('The name of the business, as the law knows it.'),
  address: text('Its address, with a line for each part.', { lengthMax: 500 }),
  taxId: line('Its tax or VAT number, with what it is called: `VAT ID DE123456789`.'),
  registration: line('Its entry in a register, with what that is called.'),
  email: email('Where a buyer can write to; else `brand.email`.'),
  phone: line('Where a buyer can call.'),
  note: text('What every invoice must say, such as a term of payment or a rule of tax.', {
    lengthMax: 1_000,
  }),
} as const

import { type Static, Type } from 'typebox'
import { Shared, Timestamp } from '../../kernel/schema.ts'

/** What a store still has to do by law and by the rules of the platform, each with its code. */

export const COMPLIANCE_CODES = [
  'claim_found',
  'product_claim_found',
  'site_missing',
  'imprint_missing',
  'privacy_missing',
  'withdrawal_missing',
  'terms_missing',
  'shipping_info_missing',
  'seller_missing',
  'contact_missing',
  'tax_missing',
  'shipping_missing',
  'countries_missing',
  'domain_missing',
  'statement_missing',
] as const
export type ComplianceCode = (typeof COMPLIANCE_CODES)[number]

export const COMPLIANCE_SEVERITIES = ['critical', 'warning', 'info'] as const
export type ComplianceSeverity = (typeof COMPLIANCE_SEVERITIES)[number]

export const ComplianceItem = Shared(
  'ComplianceItem',
  Type.Object({
    code: Type.Enum([...COMPLIANCE_CODES]),
    severity: Type.Enum([...COMPLIANCE_SEVERITIES], {
      description:
        '`critical`: selling like this breaks a law or a rule of the platform. `warning`: a law of some country, or a shopper, asks for it.',
    }),
    path: Type.String({
      description:
        'Where it is mended: a JSON Pointer into the manifest, or the route that takes it.',
    }),
    message: Type.String({ description: 'What is missing, and what to do.' }),
  }),
)
export type ComplianceItem = Static<typeof ComplianceItem>

export const Compliance = Type.Object({
  checked_at: Timestamp,
  version: Type.Union([Type.Integer(), Type.Null()], {
    description: 'The published version of the site that was checked. Null: none is published.',
  }),
  rules_version: Type.String({ description: 'The version of the rules for claims.' }),
  products_checked: Type.Integer({
    description: 'The newest products for sale whose texts were checked.',
  }),
  products_total: Type.Integer(),
  counts: Type.Object({
    critical: Type.Integer(),
    warning: Type.Integer(),
    info: Type.Integer(),
  }),
  items: Type.Array(ComplianceItem, { description: 'The worst first. At most 400.' }),
})
export type Compliance = Static<typeof Compliance>

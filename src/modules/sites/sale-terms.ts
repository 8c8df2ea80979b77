import { readShippingCountries } from '../../../manifest/countries.ts'
import { listPolicyFaults, type PolicyFaults } from './behavior-faults.ts'
import { member, switchesReader } from './switches.ts'

/** The terms of every sale that a store's site sets, for a checkout and a renewal alike. */
export interface SaleTerms {
  /** Whether the store's prices have the tax inside. */
  pricesIncludeTax: boolean
  /** The countries that the store ships to; null for every country. */
  countries: readonly string[] | null
  /** Why the policies of the manifest cannot be read. Only manifests of older releases have such faults. */
  policyFaults: PolicyFaults
}

export const NO_SALE_TERMS: SaleTerms = {
  pricesIncludeTax: false,
  countries: null,
  policyFaults: { shipping: [], tax: [] },
}

export const readSaleTerms = (manifest: unknown): SaleTerms => ({
  pricesIncludeTax: member(member(manifest, 'tax'), 'prices_include_tax') === true,
  countries: readShippingCountries(
    member(member(member(manifest, 'behavior'), 'shipping'), 'countries'),
  ),
  policyFaults: listPolicyFaults(member(manifest, 'behavior')),
})

export const saleTermsOf = switchesReader(NO_SALE_TERMS, readSaleTerms)

import type { CustomerData } from '../modules/face-parts.ts'
import { MODULES } from './modules.ts'

/** Loads what each module does at the erasure of a customer, by its name. */
export async function loadCustomerData(): Promise<ReadonlyMap<string, CustomerData>> {
  const named = MODULES.flatMap(({ name, customerData }) =>
    customerData === undefined ? [] : [{ name, customerData }],
  )
  return new Map(
    await Promise.all(
      named.map(async ({ name, customerData }) => [name, await customerData()] as const),
    ),
  )
}

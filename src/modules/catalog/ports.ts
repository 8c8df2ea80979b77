import type { ReadStock } from './public-stock.ts'

/** What the catalog asks of modules that stand above it. */
export interface CatalogPorts {
  /** Reads what shoppers may know of the stock of products. No transaction is open. */
  readStock: ReadStock
}

import { type Static, Type } from 'typebox'
import { Id, Nullable, Timestamp } from '../../kernel/schema.ts'

/** A customer of a store. */
export const Customer = Type.Object({
  customer_ref: Type.String(),
  person_id: Nullable(Id),
  email: Nullable(Type.String()),
  name: Nullable(Type.String()),
  tags: Type.Array(Type.String()),
  first_seen_at: Timestamp,
  updated_at: Timestamp,
})
export type Customer = Static<typeof Customer>

/** The members of a customer in an order. A missing member stays as it was. */
export interface SeenCustomer {
  customer_ref: string
  person_id?: string | null | undefined
  email?: string | null | undefined
  name?: string | null | undefined
}

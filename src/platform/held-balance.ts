import type { Static, TSchema } from 'typebox'
import type { Tx } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'

/** The table of a balance. All SQL here is constant: it is code, never input. */
interface BalanceOptions<S extends TSchema> {
  /** The table. It has the columns tenant_ref, id, balance_cents, held_cents and updated_at. */
  table: Sql
  /** The columns that each statement returns. */
  columns: Sql
  /** The shape of `columns`. */
  shape: S
}

/** The statements that change a balance. Each returns the row after the change. */
export interface HeldBalance<Row> {
  /** Returns the row, locked until the transaction ends: no other transaction can change the balance meanwhile. */
  lock(tx: Tx, which: Sql): Promise<Row | null>
  /** Updates the row. Throws and writes nothing where the guard does not hold. */
  update(tx: Tx, id: string, assignments: Sql, guard?: Sql): Promise<Row>
  /** Holds an amount of the balance for an order. */
  addHeld(tx: Tx, id: string, cents: number): Promise<Row>
  /** Ends a hold, so that the amount is free again. */
  releaseHeld(tx: Tx, id: string, cents: number): Promise<Row>
  /** Ends a hold, because the amount is spent. */
  captureHeld(tx: Tx, id: string, cents: number): Promise<Row>
  /** Adds to the balance or, with a negative amount, reduces it, but not below the amount that orders hold. */
  addBalance(tx: Tx, id: string, cents: number): Promise<Row>
}

/**
 * Defines the statements for a table of balances, such as gift cards: how much each is worth, and how much of it
 * orders hold. The lock of the row already makes the guards true; a statement whose guard is false throws.
 */
export function defineBalance<S extends TSchema>({
  table,
  columns,
  shape,
}: BalanceOptions<S>): HeldBalance<Static<S>> {
  const update = (tx: Tx, id: string, assignments: Sql, guard = sql`true`) =>
    tx.one(
      shape,
      sql`
      update ${table} set updated_at = fd_now(), ${assignments}
       where tenant_ref = ${tx.tenant} and id = ${id} and ${guard}
      returning ${columns}`,
    )
  return {
    update,
    lock: (tx, which) =>
      tx.maybe(
        shape,
        sql`
        select ${columns} from ${table} where tenant_ref = ${tx.tenant} and ${which} for update`,
      ),
    addHeld: (tx, id, cents) =>
      update(
        tx,
        id,
        sql`held_cents = held_cents + ${cents}`,
        sql`balance_cents - held_cents >= ${cents}`,
      ),
    releaseHeld: (tx, id, cents) =>
      update(tx, id, sql`held_cents = held_cents - ${cents}`, sql`held_cents >= ${cents}`),
    captureHeld: (tx, id, cents) =>
      update(
        tx,
        id,
        sql`held_cents = held_cents - ${cents}, balance_cents = balance_cents - ${cents}`,
        sql`held_cents >= ${cents}`,
      ),
    addBalance: (tx, id, cents) =>
      update(
        tx,
        id,
        sql`balance_cents = balance_cents + ${cents}`,
        sql`balance_cents + ${cents} >= held_cents`,
      ),
  }
}

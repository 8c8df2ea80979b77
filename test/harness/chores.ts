import { type Static, Type } from 'typebox'
import { sql } from '../../src/db/sql.ts'
import { defineQueue, type Lease } from '../../src/platform/leases.ts'

/**
 * The smallest table that is a queue. Its due column has another name than those of the modules.
 */
export const CHORES_TABLE = `
  create table chores (
    tenant_ref  text        not null references stores,
    id          uuid        not null default gen_random_uuid(),
    name        text        not null,
    due_at      timestamptz default now(),
    done_count  integer     not null default 0,
    lease_until timestamptz,
    lease_token uuid,
    primary key (tenant_ref, id)
  );
  call fd_fence('chores', app => 'select, insert', worker => 'select, insert, update');
  create policy due on chores for select to fd_worker using (true);
  create index chores_due on chores (due_at) where due_at is not null;
  create index chores_due_of_tenant on chores (tenant_ref, due_at) where due_at is not null;`

const Chore = Type.Object({ name: Type.String(), done_count: Type.Integer() })

export type HeldChore = Static<typeof Chore> & Lease

export const newQueue = () =>
  defineQueue({
    table: sql`chores`,
    due: sql`due_at`,
    columns: sql`name, done_count`,
    shape: Chore,
  })

/** The result of a chore: it is never due again. */
export const DONE = sql`due_at = null, done_count = done_count + 1`

import { joinNamed } from '../../src/compose/join.ts'
import { RESOURCES } from '../harness/all-resources.ts'

/** A row of a store for each table of the platform. */
const PLATFORM_ROWS = {
  idempotency_keys: `insert into idempotency_keys (tenant_ref, operation, key, fingerprint, lease_until)
                     values ($1, 'checkout', 'k', sha256('x'), now())`,
  retention_archives: `insert into retention_archives (tenant_ref, table_name, month, part, row_count,
                              file_sha256, rows_sha256, bytes, last_key)
                       values ($1, 'audit_log', '2020-01-01', 1, 1, repeat('a', 64),
                               repeat('b', 64), 1, '[]')`,
}

/**
 * A row of a store for each table that the canaries leave empty. The tests of tenancy fail for a table
 * without rows, so that none is ever left out. `$1` is the store.
 */
export const TENANT_ROWS = joinNamed<string>([...RESOURCES.map(({ rows }) => rows), PLATFORM_ROWS])

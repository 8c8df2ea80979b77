import type { Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'

export const eraseVaultIds = (tx: Tx, order_ids: readonly string[]) =>
  tx.run(sql`
    update payment_attempts set vault_id = null
     where tenant_ref = ${tx.tenant} and order_id = any(${order_ids}::uuid[])
       and vault_id is not null`)

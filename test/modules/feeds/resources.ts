import type { Resources } from '../../harness/resources.ts'

export const resources: Resources = {
  rows: {
    product_scans: `insert into product_scans (tenant_ref, product_id, text_hash, rules_version, passed)
                  select tenant_ref, id, sha256('x'), 'x', true
                    from products where tenant_ref = $1 limit 1`,
  },
}

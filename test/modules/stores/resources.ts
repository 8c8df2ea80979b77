import type { Resources } from '../../harness/resources.ts'

export const resources: Resources = {
  texts: (canary) => [['PATCH', '/v1/my/store', { display_name: canary }]],
}

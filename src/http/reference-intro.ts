import { html } from '../kernel/html.ts'

/** The section of the API reference on what applies to every operation, written once. */
export const INTRODUCTION = html`
<section id="authentication" aria-labelledby="authentication-title">
  <h2 id="authentication-title">Authentication</h2>
  <p>Each operation belongs to one plane, which says which credential it needs.</p>
  <div class="scroll"><table>
    <thead><tr><th scope="col">Plane</th><th scope="col">Send</th><th scope="col">Which store</th></tr></thead>
    <tbody>
      <tr><td>Public</td><td>nothing</td><td>the path names it</td></tr>
      <tr><td>Storefront</td><td><code>x-storefront-token: …</code></td><td>the path names it</td></tr>
      <tr><td>Merchant</td><td><code>Authorization: Bearer fdk_…</code></td><td>the store of the key; it is never sent</td></tr>
      <tr><td>Owner</td><td><code>Authorization: Bearer fds_…</code> or the cookie <code>__Host-fd_session</code></td><td>the stores of the owner</td></tr>
      <tr><td>Operator</td><td><code>x-operator-token: …</code></td><td>the path names it</td></tr>
    </tbody>
  </table></div>
  <p>A merchant key has scopes, and each operation names the scope it needs. A <code>manage:</code> or
    <code>write:</code> scope includes the <code>read:</code> scope of the same resource. A write by
    cookie also needs the header <code>x-fd-csrf</code>, with any value.</p>
</section>
<section id="errors" aria-labelledby="errors-title">
  <h2 id="errors-title">Errors</h2>
  <p>Every error has the same body. <code>code</code> is for programs and never changes its meaning.
    <code>message</code> is for people: it says what is wrong and what to do, and its wording may
    change.</p>
<pre><code>{
  "error": {
    "code": "invalid_body",
    "message": "The request body is not valid. Correct it as \`issues\` says.",
    "correlationId": "5f0c8a1e-6d0b-4c1f-9a53-0a1f6f6f2b11"
  },
  "issues": [
    { "path": "label", "message": "must be string" }
  ]
}</code></pre>
  <p>An id that does not exist and an id of another store get the same answer. So do a missing and a
    wrong credential. After a 429, wait for the seconds in <code>retry-after</code>. A 503 is a fault on
    our side: try again in a moment.</p>
</section>
<section id="pagination" aria-labelledby="pagination-title">
  <h2 id="pagination-title">Pagination</h2>
  <p>Lists take <code>limit</code> and <code>offset</code> and answer with <code>total</code>,
    <code>limit</code> and <code>offset</code> beside the rows. A value out of range is replaced by the
    nearest one in range; it is never an error.</p>
  <p>To read a whole list, send the <code>next_after</code> of each answer as <code>after</code> until
    an answer has none. Each page then costs the same, and rows that are added meanwhile make no other
    row appear twice. Above 10,000 rows <code>total</code> is an estimate, and
    <code>total_is_estimate</code> says so.</p>
</section>
<section id="idempotency" aria-labelledby="idempotency-title">
  <h2 id="idempotency-title">Idempotency</h2>
  <p>An operation that moves money needs an <code>Idempotency-Key</code> of 1 to 255 visible ASCII
    characters. Send the same key with every retry of the same operation: it then runs only once. A
    repeated call gets the first answer, with the header <code>idempotent-replayed: true</code>. The same
    key with another body is refused.</p>
</section>
<section id="correlation" aria-labelledby="correlation-title">
  <h2 id="correlation-title">Correlation ids</h2>
  <p>Every answer has the id of its request in the header <code>x-correlation-id</code>. The log has the
    same id. Quote it when you report a problem.</p>
</section>`

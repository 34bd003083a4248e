// Swagger UI, completed by accessible names, heading levels and landmarks.

const ATTRIBUTES = [
  [".information-container", { role: "banner" }],
  [".modal-ux", { role: "dialog", "aria-modal": "true", "aria-label": "Authorize" }],
  [".close-modal", { "aria-label": "Close" }],
  [".modal-ux [type=submit]", { "aria-label": "Authorize: apply the key" }],
  [".opblock-section-request-body textarea", { "aria-label": "Request body" }],
  [".opblock-section-request-body select", { "aria-label": "Media type of the request body" }],
  [".responses-wrapper select", { "aria-label": "Media type of the response" }],
  ["h3", { "aria-level": "2" }],
  ["h4", { "aria-level": "3" }],
  ["pre", { tabindex: "0" }], // long lines scroll
];

function complete(root) {
  for (const [selector, attributes] of ATTRIBUTES)
    for (const [name, value] of Object.entries(attributes))
      for (const each of root.querySelectorAll(selector))
        if (each.getAttribute(name) !== value) each.setAttribute(name, value);
  for (const row of root.querySelectorAll("[data-param-name]"))
    for (const field of row.querySelectorAll(":is(input, select, textarea):not([aria-label])"))
      field.setAttribute("aria-label", row.dataset.paramName);
  for (const table of root.querySelectorAll("table[role=region]:not([aria-label])"))
    table.setAttribute("aria-label", table.id);
}

// A link inside a button is a second tab stop. The button also sets the address.
const textOfLink = (Original, { React }) => ({ text }) => React.createElement("span", null, text);

const root = document.getElementById("swagger-ui");
new MutationObserver(() => complete(root)).observe(root, { childList: true, subtree: true });
SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  validatorUrl: null,
  syntaxHighlight: { activated: false }, // its red on grey has a contrast of only 3.5
  plugins: [{ wrapComponents: { DeepLink: textOfLink } }],
});

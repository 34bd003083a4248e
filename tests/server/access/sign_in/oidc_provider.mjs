// npm's oidc-provider, a certified provider of OpenID Connect: node oidc_provider.mjs PACKAGE PORT
const [folder, port] = process.argv.slice(2);
const { Provider } = await import(`${folder}/lib/index.js`);
const GROUPS = { ada: ["students"], ida: ["library"], eve: [] };
const provider = new Provider(`http://localhost:${port}`, {
  clients: [{
    client_id: "shrag-test",
    client_secret: "a secret of the client",
    redirect_uris: ["http://localhost/sign-in/callback"],
    post_logout_redirect_uris: ["http://localhost/"],
  }],
  claims: { openid: ["sub"], profile: ["name", "groups"] },
  findAccount: (context, id) => ({ accountId: id, claims: () => ({ sub: id, name: id, groups: GROUPS[id] }) }),
  cookies: { keys: ["of the tests"] },
  pkce: { required: () => true },
});
provider.listen(port, "127.0.0.1", () => console.log("listening"));

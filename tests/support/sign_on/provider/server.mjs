// A provider of OpenID Connect for tests, on a loopback port: node server.mjs '{"accounts": …, "origins": […]}'
// It prints its issuer once it listens. Anybody with an account signs in with any password.
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const { accounts, origins, port = 0, algorithm = 'RS256', lean = true } = JSON.parse(process.argv[2]);

const pair = algorithm === 'RS256' ? ['rsa', { modulusLength: 2048 }] : ['ec', { namedCurve: 'P-256' }];
const key = generateKeyPairSync(...pair).privateKey.export({ format: 'jwk' });

function client(id, more) {
  return {
    client_id: id,
    redirect_uris: origins.map((origin) => `${origin}/sign-on/company/callback`),
    post_logout_redirect_uris: origins.map((origin) => `${origin}/sign-in`),
    id_token_signed_response_alg: algorithm,
    ...more,
  };
}

const server = createServer();
server.listen(port, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [
      client('crew', { client_secret: 'a secret of the tests / with: signs' }),
      client('posting', { client_secret: 'another', token_endpoint_auth_method: 'client_secret_post' }),
      client('public', { token_endpoint_auth_method: 'none' }),
    ],
    jwks: { keys: [{ ...key, kid: randomUUID(), use: 'sig', alg: algorithm }] },
    claims: { openid: ['sub'], profile: ['preferred_username', 'groups', 'plants'], email: ['email'] },
    conformIdTokenClaims: lean, // only what is asked for by itself is in the token, the rest at the userinfo endpoint
    cookies: { keys: [randomUUID()] },
    findAccount: (ctx, id) => accounts[id] && { accountId: id, claims: () => ({ sub: id, ...accounts[id] }) },
    async loadExistingGrant(ctx) { // nobody is asked for consent
      const grant = new ctx.oidc.provider.Grant({
        clientId: ctx.oidc.client.clientId, accountId: ctx.oidc.session.accountId,
      });
      grant.addOIDCScope('openid profile email');
      await grant.save();
      return grant;
    },
  });
  server.on('request', provider.callback());
  console.log(issuer);
});

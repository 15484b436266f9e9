/**
 * The login of users with an identity provider (OpenID Connect, authorization code with PKCE). Start at {@link
 * io.carillon.server.login.LoginRoutes}. Must not depend on the API, schedules or runs.
 */
@NullMarked
package io.carillon.server.login;

import org.jspecify.annotations.NullMarked;

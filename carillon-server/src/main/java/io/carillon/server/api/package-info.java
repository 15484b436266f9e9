/**
 * The routes of {@code /v1}. Each route parses a request, calls the library's API in one transaction and returns the
 * resulting state. Start at Api. Depends on the other server packages and the library's API, not on Jetty.
 *
 * <p>A new group of routes is a class with a method {@code routes()} and a line in {@code Api}; routes of events get a
 * line in {@code EventApi}, routes of users one in {@code UserAccess}. Routes that change something call {@code
 * RequestExecutor.change}, which writes the audit log and stores responses; routes that only read call {@code
 * RequestExecutor.read}. Each operation is declared in openapi.json with its permission, fields and error codes, and
 * has a sample body in the tests. Tests of bad input, scopes, audit and project isolation then cover it without further
 * code.
 */
@NullMarked
package io.carillon.server.api;

import org.jspecify.annotations.NullMarked;

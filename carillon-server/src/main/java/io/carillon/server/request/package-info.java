/**
 * What several routes need to answer a request: stored responses for repeated requests, and warnings about handlers
 * that no node has. Contains no routes. Start at IdempotentRequest.
 */
@NullMarked
package io.carillon.server.request;

import org.jspecify.annotations.NullMarked;

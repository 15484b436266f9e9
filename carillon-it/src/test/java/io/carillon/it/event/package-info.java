/** Publishing events, their order, and subscriptions. */
package io.carillon.it.event;

/**
 * Tests of the library as an application uses it: builder, projects, propagated contexts, and errors for invalid input
 * and failed starts.
 */
package io.carillon.it.api;

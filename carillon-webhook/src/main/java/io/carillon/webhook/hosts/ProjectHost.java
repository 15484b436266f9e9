package io.carillon.webhook.hosts;

/**
 * A host that a project calls. Requests of one project must not prevent those of another, so each pair has its own
 * limits.
 *
 * @param host the name or address, with the port
 */
public record ProjectHost(String project, String host) {}

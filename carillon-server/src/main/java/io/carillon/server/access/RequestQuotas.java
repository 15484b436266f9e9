package io.carillon.server.access;

import io.carillon.server.http.Problem;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;

/** Limits the requests of each project on this node, and tells callers how many they may still send. */
final class RequestQuotas {
    /** A project without a quota has a larger limit. */
    private static final double UNLIMITED = 1e9;

    private static final int MAX_PROJECTS = 100_000;

    private final RateLimiter limiter = new RateLimiter();
    private final Map<String, Double> perSecondByProject = new ConcurrentHashMap<>();

    /** Counts a request of a project; throws a problem with status 429 if it exceeds the quota. */
    void take(String project, double perSecond) {
        take(
                project,
                perSecond,
                "The project may send at most %s requests per second. Wait for the time in Retry-After.");
    }

    /** Counts a request of a user, who may name any project; throws a problem with status 429 if it is one too many. */
    void takeOfUser(String actor, double perSecond) {
        take(
                actor,
                perSecond,
                "A user may send at most %s requests per second in all projects together. Wait for the time in"
                        + " Retry-After.");
    }

    private void take(String project, double perSecond, String exceeded) {
        if (perSecondByProject.size() > MAX_PROJECTS) perSecondByProject.clear();
        perSecondByProject.put(project, perSecond);
        OptionalLong wait = limiter.tryAcquire(project, perSecond, perSecond);
        if (wait.isEmpty()) return;
        Problem problem = Problem.of(429, "quota-exceeded", exceeded.formatted(perSecond))
                .withHeader("Retry-After", Long.toString(wait.getAsLong()));
        for (Map.Entry<String, String> header : headers(project).entrySet())
            problem = problem.withHeader(header.getKey(), header.getValue());
        throw problem;
    }

    /** Returns the headers of a response; none if the project may send any number of requests. */
    Map<String, String> headers(String project) {
        double perSecond = perSecondByProject.getOrDefault(project, UNLIMITED);
        if (perSecond >= UNLIMITED) return Map.of();
        double limit = Math.max(1, perSecond);
        double available = limiter.available(project);
        return Map.of(
                "RateLimit-Limit",
                text(Math.floor(limit)),
                "RateLimit-Remaining",
                text(Math.floor(available)),
                "RateLimit-Reset",
                text(Math.ceil((limit - available) / perSecond)),
                "RateLimit-Policy",
                text(Math.floor(limit)) + ";w=" + text(Math.ceil(limit / perSecond)));
    }

    private static String text(double number) {
        return Long.toString((long) number);
    }
}

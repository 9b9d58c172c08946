# docker build -t carbon-mirror . && docker run --network host -v carbon-mirror:/data carbon-mirror
# With the host's network, the console is at the loopback address of the host. With a network of its own, the container needs
# HOST=0.0.0.0 and has no console. Without settings it exits with code 2, because NODE_ENV=production: start a demo with
# "docker run … carbon-mirror up --demo".
FROM node:24.21.0-bookworm AS build
WORKDIR /app
COPY package.json package-lock.json tsconfig.json ./
COPY tools tools
COPY migrations migrations
COPY src src
RUN npm ci && npm prune --omit=dev

FROM node:24.21.0-bookworm-slim
WORKDIR /app
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json .env.example Procfile LICENSE ./
COPY docs docs
RUN ln -s /app/dist/main.js /usr/local/bin/carbon-mirror && install -d -o node -g node -m 0700 /data
ENV NODE_ENV=production DATA_DIR=/data OPERATIONS_PORT=8081
VOLUME /data
USER node
HEALTHCHECK --start-period=60s CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.OPERATIONS_PORT + '/readyz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["carbon-mirror"]
CMD ["up"]
